import { createHash } from 'node:crypto';
import type { Collection, ObjectId } from 'mongodb';
import { type Clock, DAY, HOUR } from '../platform/clock.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import type { Allowance, RateLimit } from '../platform/limits/rate-limit.ts';

/** Mails to one address, counted over all clients and all pages, because anybody can enter an address. */
const BY_RECIPIENT: Allowance = { times: 5, windowMs: HOUR };
const BY_NETWORK: Allowance = { times: 20, windowMs: HOUR };
/** Mails that one user causes to other addresses, from all networks. */
const BY_USER: Allowance = { times: 20, windowMs: DAY };
/** Mails that all clients cause together. A mail server that sends more may be classified as a spam source. */
const BY_ALL: Allowance = { times: 1_000, windowMs: HOUR };

/** A mail to an address that somebody entered, which may be a stranger's. */
export type EnteredMail = {
  email: string;
  /** The network address of the request. */
  address: string;
  userId?: ObjectId;
};

/**
 * Counts one mail to an address that somebody entered, across all web processes. Every page that causes such a mail
 * calls this function: sign-up, forgotten password, sign-in to an unconfirmed account, change of address, invitation.
 *
 * @returns null if the mail may be sent; otherwise the time from which the next one may be sent
 */
export function countMail(
  limits: { rateLimits: Collection<RateLimit>; clock: Clock },
  { email, address, userId }: EnteredMail,
): Promise<Date | null> {
  return takeAll(limits, [
    ...byNetwork('link:address', address, BY_NETWORK),
    ...(userId ? [{ key: `mail:user:${userId.toHexString()}`, allowance: BY_USER }] : []),
    { key: `link:email:${hashedAddress(email)}`, allowance: BY_RECIPIENT },
    { key: 'link:all', allowance: BY_ALL },
  ]);
}

/** Hashes an e-mail address, so that other text that a user types into the field by mistake is not stored. */
export function hashedAddress(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}
