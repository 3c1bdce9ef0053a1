import { createHash } from 'node:crypto';
import { HOUR } from '../platform/clock.ts';
import { defineLimit, type Limit, limitFor, timesBySetting } from '../platform/limits/define-limit.ts';
import { networkOf, subnetOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { findUsedUp, lastToReset, refundAll, takeAllOrNone } from '../platform/limits/rate-limit.ts';
import { PUBLIC_MAIL_FACTOR, SIGN_UPS_HOURS } from '../platform/settings/limit-settings.ts';
import type { AccountsDeps } from './deps.ts';
import { isPublicMail, mailboxOf, mailDomainOf } from './mailbox.ts';

/** A new account, or a request for a sign-up link. */
export type NewAccount = {
  email: string;
  /** The network address of the request. */
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
 * Counts one new account, across all web processes and all ways to sign up. On a listing that sends mail, call it when
 * the user has shown that the e-mail address is theirs, so that nobody exhausts the limit of a domain with made-up
 * addresses. If the account is refused, no limit counts it.
 *
 * @returns null if the account may be made; otherwise the time from which the next one may be made
 */
export async function takeSignUp(deps: AccountsDeps, account: NewAccount): Promise<Date | null> {
  const refused = await takeAllOrNone(deps, limitsOf(deps, account));
  return refused?.until ?? null;
}

/**
 * Makes an account within the limits. If `make` throws or makes no account, nothing is counted.
 *
 * @param isMade - whether the result is a new account
 * @returns the result of `make`; or `retryAt`, the time from which the next account may be made
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
 * Whether the network of a request, or the subnet around it, has reached its limit of new accounts. If so, no sign-up
 * link is sent, because the link could make no account. The answer does not depend on the e-mail address; otherwise it
 * would reveal whether accounts were made with that address.
 *
 * @param address - the network address of the request
 * @returns null if one more account may be made; otherwise the time from which it may be made
 */
export async function networkSignUpsUsed(deps: AccountsDeps, address: string): Promise<Date | null> {
  const ofNetwork = limitsOf(deps, { email: '', address }).slice(1, 3);
  return lastToReset(await findUsedUp(deps, ofNetwork))?.until ?? null;
}
