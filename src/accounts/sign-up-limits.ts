import { createHash } from 'node:crypto';
import { HOUR } from '../platform/clock.ts';
import { defineLimit, type Limit, limitFor, timesBySetting } from '../platform/limits/define-limit.ts';
import { networkOf, subnetOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { findUsedUp, lastToReset, refundAll, takeAllOrNone } from '../platform/limits/rate-limit.ts';
import { PUBLIC_MAIL_FACTOR, SIGN_UPS_HOURS } from '../platform/settings/limit-settings.ts';
import type { AccountsDeps } from './deps.ts';
import { isPublicMail, mailboxOf, mailDomainOf } from './mailbox.ts';

export type NewAccount = {
  email: string;
  address: string;
};

const NEW_ACCOUNTS = {
  what: 'New accounts',
  windowMs: SIGN_UPS_HOURS * HOUR,
  beyond: '429 on the page; a sign-in at another site fails',
} as const;
const BY_MAILBOX = defineLimit({
  ...NEW_ACCOUNTS,
  key: 'new-account:mailbox',
  of: 'mailbox, with all its `+` tags and dots',
  times: 2,
});
const BY_ADDRESS = defineLimit({
  ...NEW_ACCOUNTS,
  key: 'new-account:address',
  of: 'IPv4 address or IPv6 /64',
  setting: 'SIGN_UPS_PER_NETWORK',
  part: 1 / 2,
});
const BY_SUBNET = defineLimit({
  ...NEW_ACCOUNTS,
  key: 'new-account:network',
  of: 'IPv4 /24 or IPv6 /48',
  setting: 'SIGN_UPS_PER_NETWORK',
});
const BY_DOMAIN = defineLimit({
  ...NEW_ACCOUNTS,
  key: 'new-account:domain',
  of: `registered mail domain; a large public provider has ${PUBLIC_MAIL_FACTOR} times as many`,
  setting: 'SIGN_UPS_PER_MAIL_DOMAIN',
});

/** The narrowest limit comes first: if it refuses an account, the wider ones do not count the account. */
function limitsOf({ config }: AccountsDeps, { email, address }: NewAccount): Limit[] {
  const domain = mailDomainOf(email);
  const byDomain = timesBySetting(BY_DOMAIN, config);
  const factor = isPublicMail(domain) ? PUBLIC_MAIL_FACTOR : 1;
  const wide = widerNetworkOf(address) === networkOf(address) ? subnetOf(address) : widerNetworkOf(address);
  return [
    limitFor(BY_MAILBOX, hashed(mailboxOf(email))),
    limitFor(timesBySetting(BY_ADDRESS, config), networkOf(address)),
    limitFor(timesBySetting(BY_SUBNET, config), wide),
    limitFor({ ...byDomain, times: factor * byDomain.times }, hashed(domain)),
  ];
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * On a listing that sends mail, call this when the user has shown that the e-mail address is theirs, so that nobody
 * exhausts the limit of a domain with made-up addresses. Null if the account may be made; otherwise the time from which
 * the next one may be made.
 */
export async function takeSignUp(deps: AccountsDeps, account: NewAccount): Promise<Date | null> {
  const refused = await takeAllOrNone(deps, limitsOf(deps, account));
  return refused?.until ?? null;
}

/**
 * If `make` throws or makes no account (`isMade`), nothing is counted. `retryAt`: the time from which the next account
 * may be made.
 */
export async function makeWithinLimits<T>(
  deps: AccountsDeps,
  account: NewAccount,
  make: () => Promise<T>,
  isMade: (result: T) => boolean = () => true,
): Promise<{ retryAt: Date } | { retryAt: null; result: T }> {
  const retryAt = await takeSignUp(deps, account);
  if (retryAt) return { retryAt };
  const giveBack = () => refundAll(deps, limitsOf(deps, account));
  const result = await make().catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  if (!isMade(result)) await giveBack();
  return { retryAt: null, result };
}

/**
 * If the network or the subnet around it has reached its limit, no sign-up link is sent, because it could make no
 * account. The answer does not depend on the e-mail address, so it does not reveal accounts. Null if one more account
 * may be made; otherwise the time from which it may be made.
 */
export async function networkSignUpsUsed(deps: AccountsDeps, address: string): Promise<Date | null> {
  const ofNetwork = limitsOf(deps, { email: '', address }).slice(1, 3);
  return lastToReset(await findUsedUp(deps, ofNetwork))?.until ?? null;
}
