import type { Collection, ObjectId } from 'mongodb';
import { type Clock, HOUR, MINUTE } from '../platform/clock.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import { networkOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import {
  type Allowance,
  type Limit,
  type RateLimit,
  refundAll,
  useAllowance,
} from '../platform/limits/rate-limit.ts';
import { hashedAddress } from './mail-limits.ts';

/** Tries for one account: from one network, from one known device, or to re-authenticate. Allows for typing errors. */
const OF_ACCOUNT: Allowance = { times: 10, windowMs: 10 * MINUTE };
/** Tries from one network, which many users may share. */
const BY_NETWORK: Allowance = { times: 30, windowMs: 10 * MINUTE };
/** Tries for one account from one IPv4 address or IPv6 /48. A /48 contains many networks and counts as one. */
const ACCOUNT_BY_WIDER_NETWORK: Allowance = { times: 20, windowMs: HOUR };
/**
 * Tries for one account from all networks together, without those of known devices, which can still sign in. NIST SP
 * 800-63B allows 100 consecutive wrong tries. Only tries from at least five wider networks can reach this limit.
 */
const BY_EMAIL: Allowance = { times: 100, windowMs: HOUR };

/** Right and wrong tries of one network. Each try computes a hash and may start a session. */
const ALL_OF_NETWORK: Allowance = { times: 300, windowMs: 10 * MINUTE };
/** Right and wrong tries of one account's known devices. Each right try makes a new known device. */
const ALL_OF_DEVICES: Allowance = { times: 30, windowMs: 10 * MINUTE };

/** One use of an authenticator app's code. The window is longer than the 90 seconds for which a code is valid. */
const CODE: Allowance = { times: 1, windowMs: 2 * MINUTE };

type Limits = { rateLimits: Collection<RateLimit>; clock: Clock };

export type Try = {
  email: string;
  /** The network address of the request. */
  address: string;
  /** The id of the browser's known device (see known-devices.ts); null if there is none. */
  device: string | null;
};

type Rule = Limit & {
  /** Whether tries that succeeded count too. */
  countsAll?: boolean;
};

/** The rules of a network come first: if it is over its limit, its tries do not count for the limits of accounts. */
function rulesOf({ email, address, device }: Try): Rule[] {
  const account = hashedAddress(email);
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
    { key: `sign-in:site:${account}:${widerNetworkOf(address)}`, allowance: ACCOUNT_BY_WIDER_NETWORK },
    { key: `sign-in:account:${account}:${network}`, allowance: OF_ACCOUNT },
    { key: `sign-in:email:${account}`, allowance: BY_EMAIL },
  ];
}

/**
 * Counts one try to sign in; all web processes share the count. Wrong tries from one IPv4 address or IPv6 /48 do not
 * lock out other addresses and networks, or known devices.
 *
 * @returns null if the try is allowed; otherwise the time from which the next try is allowed
 */
export function countTry(limits: Limits, who: Try): Promise<Date | null> {
  return takeAll(limits, rulesOf(who));
}

/** Must be called after a successful sign-in. The try then counts only for the limits that also count right tries. */
export async function forgiveTry(limits: Limits, who: Try): Promise<void> {
  await refundAll(
    limits,
    rulesOf(who).filter(({ countsAll }) => !countsAll),
  );
}

/** Counts one sign-up that hashes a password. Returns the same as `countTry`. */
export function countSignUp(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('sign-up:address', address, BY_NETWORK));
}

/** Counts one sign-in that begins at another site. Returns the same as `countTry`. */
export function countOtherSite(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('other-site:address', address, BY_NETWORK));
}

/** Counts one return from another site, which ends a sign-in at that site. Returns the same as `countTry`. */
export function countOtherSiteCallback(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('other-site-return:address', address, BY_NETWORK));
}

/**
 * Counts one re-authentication of a signed-in user, right or wrong: by the password, and a code if the second factor is
 * on. Returns the same as `countTry`.
 */
export function countReAuthentication(limits: Limits, userId: ObjectId): Promise<Date | null> {
  return useAllowance(limits, `proof:user:${userId.toHexString()}`, OF_ACCOUNT);
}

/**
 * Counts one try of a second factor's code, by network only: the sign-in library counts the wrong codes of each user.
 * Returns the same as `countTry`.
 */
export function countCode(limits: Limits, address: string): Promise<Date | null> {
  return takeAll(limits, byNetwork('code:address', address, BY_NETWORK));
}

/** Marks a code of an authenticator app as used. Returns true when it was used before. */
export async function markCodeUsed(limits: Limits, userId: ObjectId, code: string): Promise<boolean> {
  return (await useAllowance(limits, codeKey(userId, code), CODE)) !== null;
}

/** Whether a code of an authenticator app was used before. Does not mark it as used. */
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
