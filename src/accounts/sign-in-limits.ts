import { createHash } from 'node:crypto';
import type { Collection, ObjectId } from 'mongodb';
import { type Clock, HOUR, MINUTE } from '../clock.ts';
import { networkOf } from '../limits/network-of.ts';
import { type Allowance, giveBackTurn, type RateLimit, takeTurn } from '../limits/rate-limit.ts';

/** Enough for somebody who mistypes, far too few for somebody who guesses. */
const BY_EMAIL: Allowance = { times: 10, windowMs: 10 * MINUTE };
/** Many people may share one address. */
const BY_ADDRESS: Allowance = { times: 30, windowMs: 10 * MINUTE };

/** Mails that anybody can have sent to an address by typing it. */
const LINKS_BY_EMAIL: Allowance = { times: 5, windowMs: HOUR };
const LINKS_BY_ADDRESS: Allowance = { times: 20, windowMs: HOUR };
/** Longer than a code of an authenticator app is taken: half a minute, and the ones before and after. */
const CODE: Allowance = { times: 1, windowMs: 2 * MINUTE };

type Limits = { rateLimits: Collection<RateLimit>; clock: Clock };

/** Who tries: the e-mail address that was typed, and the network address it came from. */
export type Try = { email: string; address: string };

function keysOf({ email, address }: Try, what = 'sign-in'): { email: string; address: string } {
  // Hashed: what people type there by mistake is not kept.
  const hash = createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
  return { email: `${what}:email:${hash}`, address: `${what}:address:${networkOf(address)}` };
}

/**
 * Counts one try to sign in, on all web processes together.
 *
 * @returns null when it may go on; else when the next try may
 */
export async function countTry(limits: Limits, who: Try): Promise<Date | null> {
  const keys = keysOf(who);
  return (await takeTurn(limits, keys.address, BY_ADDRESS)) ?? (await takeTurn(limits, keys.email, BY_EMAIL));
}

/** A try that succeeded does not count. */
export async function forgiveTry(limits: Limits, who: Try): Promise<void> {
  const keys = keysOf(who);
  await Promise.all([giveBackTurn(limits, keys.address), giveBackTurn(limits, keys.email)]);
}

/**
 * Counts one mail with a link that somebody had sent to an address, on all web processes together.
 *
 * @returns null when it may go on; else when the next one may
 */
export async function countLink(limits: Limits, who: Try): Promise<Date | null> {
  const keys = keysOf(who, 'link');
  return (
    (await takeTurn(limits, keys.address, LINKS_BY_ADDRESS)) ??
    (await takeTurn(limits, keys.email, LINKS_BY_EMAIL))
  );
}

/**
 * Counts one try of a second factor's code, on all web processes together. By the network address alone: whose code
 * it is only the sign-in under way tells, and wrong codes for one person are counted by the sign-in library.
 *
 * @returns null when it may go on; else when the next try may
 */
export function countCode(limits: Limits, address: string): Promise<Date | null> {
  return takeTurn(limits, `code:address:${address}`, BY_ADDRESS);
}

/** Uses a code of an authenticator app up; true where it was used before. */
export async function isCodeUsed(limits: Limits, personId: ObjectId, code: string): Promise<boolean> {
  return (await takeTurn(limits, `code:${personId.toHexString()}:${code}`, CODE)) !== null;
}
