import { createHash } from 'node:crypto';
import type { Collection, ObjectId } from 'mongodb';
import { type Clock, HOUR, MINUTE } from '../platform/clock.ts';
import { byNetwork, type Limit, takeAll } from '../platform/limits/by-network.ts';
import { networkOf, siteOf } from '../platform/limits/network-of.ts';
import { type Allowance, type RateLimit, refund, useAllowance } from '../platform/limits/rate-limit.ts';

/** Tries of one account from one network, or from one known device: enough for somebody who mistypes. */
const OF_ACCOUNT: Allowance = { times: 10, windowMs: 10 * MINUTE };
/** Many users may share one network. */
const BY_NETWORK: Allowance = { times: 30, windowMs: 10 * MINUTE };
/** Tries of one account from one IPv4 address or IPv6 /48: a /48 must not pass for many networks. */
const ACCOUNT_BY_SITE: Allowance = { times: 20, windowMs: HOUR };
/**
 * Tries of one account from all networks together, known devices left out. NIST SP 800-63B allows 100 wrong ones in a
 * row. It takes five sites to use these up, and who signs in with a known device is not kept out even then.
 */
const BY_EMAIL: Allowance = { times: 100, windowMs: HOUR };

/** Tries of a network, right or wrong: each costs a hash and may begin a session. */
const ALL_OF_NETWORK: Allowance = { times: 300, windowMs: 10 * MINUTE };
/** The same for the known devices of an account: each right one makes a new known device. */
const ALL_OF_DEVICES: Allowance = { times: 30, windowMs: 10 * MINUTE };

/** Mails that anybody can have sent to an address by typing it. */
const LINKS_BY_EMAIL: Allowance = { times: 5, windowMs: HOUR };
const LINKS_BY_NETWORK: Allowance = { times: 20, windowMs: HOUR };
/** Mails that all strangers together can have sent: a mail server that sends more is soon taken for a spammer's. */
const LINKS_BY_ALL: Allowance = { times: 1_000, windowMs: HOUR };
/** Longer than a code of an authenticator app is taken: half a minute, and the ones before and after. */
const CODE: Allowance = { times: 1, windowMs: 2 * MINUTE };

type Limits = { rateLimits: Collection<RateLimit>; clock: Clock };

/** Who tries to sign in. */
export type Try = {
  /** The e-mail address that was typed. */
  email: string;
  /** The network address of the request. */
  address: string;
  /** The known device (see known-devices.ts). */
  device: string | null;
};

type Rule = Limit & {
  /** Counts tries that succeeded too. */
  countsAll?: boolean;
};

/** Widest first: tries of a network that is over its limit do not count against accounts. */
function rulesOf({ email, address, device }: Try): Rule[] {
  const account = hashed(email);
  if (device !== null) {
    return [
      { key: `sign-in:device:${account}:${device}`, allowance: OF_ACCOUNT },
      { key: `sign-in:devices:${account}`, allowance: ALL_OF_DEVICES, countsAll: true },
    ];
  }
  const network = networkOf(address);
  return [
    { key: `sign-in:all:${network}`, allowance: ALL_OF_NETWORK, countsAll: true },
    ...byNetwork('sign-in:address', address, BY_NETWORK),
    { key: `sign-in:site:${account}:${siteOf(address)}`, allowance: ACCOUNT_BY_SITE },
    { key: `sign-in:account:${account}:${network}`, allowance: OF_ACCOUNT },
    { key: `sign-in:email:${account}`, allowance: BY_EMAIL },
  ];
}

/** Addresses are hashed: what users type there by mistake is not kept. */
function hashed(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}

/**
 * Counts one try to sign in, on all web processes together. Wrong tries from one network keep nobody on another
 * network, and no known device, from signing in.
 *
 * @returns null when it may go on; else when the next try may
 */
export function countTry(limits: Limits, who: Try): Promise<Date | null> {
  return takeAll(limits, rulesOf(who));
}

/** A try that succeeded counts for the limits of all tries only. */
export async function forgiveTry(limits: Limits, who: Try): Promise<void> {
  const forgiven = rulesOf(who).filter(({ countsAll }) => !countsAll);
  await Promise.all(forgiven.map(({ key }) => refund(limits, key)));
}

/** Counts one sign-up that hashes a password. Returns as `countTry` does. */
export function countSignUp(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('sign-up:address', address, BY_NETWORK));
}

/**
 * Counts one try, right or wrong, of somebody who is signed in already to prove by password or code that they are. No
 * try to sign in counts here. Returns as `countTry` does.
 */
export function countProof(limits: Limits, userId: ObjectId): Promise<Date | null> {
  return useAllowance(limits, `proof:user:${userId.toHexString()}`, OF_ACCOUNT);
}

/**
 * Counts one mail with a link that somebody had sent to an address, on all web processes together, whatever page it was
 * asked for on. Returns as `countTry` does.
 */
export function countLink(
  limits: Limits,
  { email, address }: Pick<Try, 'email' | 'address'>,
): Promise<Date | null> {
  return takeAll(limits, [
    ...byNetwork('link:address', address, LINKS_BY_NETWORK),
    { key: `link:email:${hashed(email)}`, allowance: LINKS_BY_EMAIL },
    { key: 'link:all', allowance: LINKS_BY_ALL },
  ]);
}

/**
 * Counts one try of a second factor's code, on all web processes together. By the network alone: whose code it is only
 * the sign-in under way tells, and wrong codes for one user are counted by the sign-in library. Returns as `countTry`
 * does.
 */
export function countCode(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('code:address', address, BY_NETWORK));
}

/** Uses a code of an authenticator app up; true where it was used before. */
export async function isCodeUsed(limits: Limits, userId: ObjectId, code: string): Promise<boolean> {
  return (await useAllowance(limits, codeKey(userId, code), CODE)) !== null;
}

/** Whether a code of an authenticator app was used before; uses nothing up. */
export async function wasCodeUsed(
  { rateLimits, clock }: Limits,
  userId: ObjectId,
  code: string,
): Promise<boolean> {
  const used = { _id: codeKey(userId, code), resetAt: { $gt: clock.now() } };
  return (await rateLimits.findOne(used)) !== null;
}

function codeKey(userId: ObjectId, code: string): string {
  return `code:${userId.toHexString()}:${code}`;
}
