import type { ObjectId } from 'mongodb';
import { defineMessage } from '../language/t.ts';
import { HOUR, MINUTE } from '../platform/clock.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import { defineLimit, type Limit, limitFor } from '../platform/limits/define-limit.ts';
import { networkOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { refundAll, useAllowance } from '../platform/limits/rate-limit.ts';
import type { AccountsDeps } from './deps.ts';
import { hashedAddress } from './mail-limits.ts';

export const TOO_MANY_ATTEMPTS = defineMessage('Too many attempts.');
const ATTEMPTS = { windowMs: 10 * MINUTE, sentence: TOO_MANY_ATTEMPTS } as const;
/** Enough for typing errors. */
const OF_ACCOUNT = 10;
/** Enough for the many users who may share a network. */
const ofNetwork = (what: string, key: string) =>
  defineLimit({ ...ATTEMPTS, of: 'network', times: 30, what, key });

const WRONG = 'Wrong passwords';
const ALL = 'Passwords, right and wrong';
const tries = (what: string, key: string, of: string, times: number, windowMs = ATTEMPTS.windowMs) =>
  defineLimit({ ...ATTEMPTS, what, key, of, times, windowMs });

const BY_DEVICE = tries(WRONG, 'sign-in:device', 'account and known device', OF_ACCOUNT);
const BY_ACCOUNT_AND_NETWORK = tries(
  WRONG,
  'sign-in:account',
  'account and network (IPv4 address or IPv6 /64)',
  OF_ACCOUNT,
);
const BY_NETWORK = ofNetwork(WRONG, 'sign-in:address');
/** A /48 contains many networks and counts as one. */
const BY_ACCOUNT_AND_WIDER_NETWORK = tries(
  WRONG,
  'sign-in:site',
  'account and IPv4 address or IPv6 /48',
  20,
  HOUR,
);
/** NIST SP 800-63B allows 100 consecutive wrong tries. Only tries from at least five wider networks can reach this. */
const BY_ACCOUNT = tries(WRONG, 'sign-in:email', 'account, without its known devices', 100, HOUR);
/** Each try computes a hash and may start a session. */
const ALL_BY_NETWORK = tries(ALL, 'sign-in:all', 'IPv4 address or IPv6 /64', 300);
/** Each right try makes a new known device. */
const ALL_BY_DEVICES = tries(ALL, 'sign-in:devices', 'account, for all its known devices', 30);

/** Each hashes a password. */
export const SIGN_UPS = ofNetwork('Sign-ups on a listing without mail', 'sign-up:address');
export const OTHER_SITE_SIGN_INS = ofNetwork('Sign-ins that begin at another site', 'other-site:address');
export const OTHER_SITE_RETURNS = ofNetwork('Returns from another site', 'other-site-return:address');
/** By network only: the sign-in library counts the wrong codes of each user. */
export const CODES = ofNetwork('Codes of a second factor at sign-in', 'code:address');
export const RE_AUTHENTICATIONS = defineLimit({
  ...ATTEMPTS,
  key: 'proof:user',
  what: 'Passwords and codes, right and wrong, on the pages of one’s own account',
  of: 'user',
  times: OF_ACCOUNT,
});

/** The window is longer than the 90 seconds for which a code is valid. */
const CODE_USES = defineLimit({
  key: 'code',
  what: 'Uses of a code of an authenticator app',
  of: 'user and code',
  times: 1,
  windowMs: 2 * MINUTE,
  beyond: 'the code counts as wrong',
});

export type Try = {
  email: string;
  address: string;
  /** Of the browser's known device (known-devices.ts); null if there is none. */
  device: string | null;
};

type Rule = Limit & {
  countsAll?: boolean;
};

/** First those of a network: if it is over its limit, its tries do not count for the limits of accounts. */
function rulesOf({ email, address, device }: Try): Rule[] {
  const account = hashedAddress(email);
  if (device !== null) {
    return [
      limitFor(BY_DEVICE, `${account}:${device}`),
      { ...limitFor(ALL_BY_DEVICES, account), countsAll: true },
    ];
  }
  const network = networkOf(address);
  return [
    { ...limitFor(ALL_BY_NETWORK, network), countsAll: true },
    ...byNetwork(BY_NETWORK, address),
    limitFor(BY_ACCOUNT_AND_WIDER_NETWORK, `${account}:${widerNetworkOf(address)}`),
    limitFor(BY_ACCOUNT_AND_NETWORK, `${account}:${network}`),
    limitFor(BY_ACCOUNT, account),
  ];
}

/**
 * Wrong tries from one IPv4 address or IPv6 /48 do not lock out other networks, or known devices. Null if the try is
 * allowed; otherwise the time from which the next try is allowed.
 */
export function countTry(deps: AccountsDeps, who: Try): Promise<Date | null> {
  return takeAll(deps, rulesOf(who));
}

/** Must be called after a successful sign-in. The try then counts only for the limits that also count right tries. */
export async function forgiveTry(deps: AccountsDeps, who: Try): Promise<void> {
  await refundAll(
    deps,
    rulesOf(who).filter(({ countsAll }) => !countsAll),
  );
}

/** Returns true when the code was used before. */
export async function markCodeUsed(deps: AccountsDeps, userId: ObjectId, code: string): Promise<boolean> {
  return (await useAllowance(deps, useOf(userId, code))) !== null;
}

/** Does not mark the code as used. */
export async function wasCodeUsed({ rateLimits, clock }: AccountsDeps, userId: ObjectId, code: string) {
  const used = { _id: useOf(userId, code).key, resetAt: { $gt: clock.now() } };
  return (await rateLimits.findOne(used)) !== null;
}

function useOf(userId: ObjectId, code: string): Limit {
  return limitFor(CODE_USES, `${userId.toHexString()}:${code}`);
}
