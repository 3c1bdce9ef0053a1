import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import { type Clock, DAY } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Limit } from '../platform/limits/by-network.ts';
import { networkOf, subnetOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { type RateLimit, refund, useAllowances } from '../platform/limits/rate-limit.ts';
import { isPublicMail, mailboxOf, mailDomainOf } from './mailbox.ts';

type Limits = {
  rateLimits: Collection<RateLimit>;
  clock: Clock;
  config: Pick<Config, 'SIGN_UPS_PER_NETWORK' | 'SIGN_UPS_PER_MAIL_DOMAIN'>;
};

/** A new account, or the request for a link to make one. */
export type NewAccount = {
  email: string;
  /** The network address of the request. */
  address: string;
};

/** The most accounts a day of one mailbox. Addresses that differ in a `+` tag or in dots are one mailbox. */
const OF_MAILBOX = 2;

/**
 * The limit of a public provider is this many times that of another domain, because anybody can get an address of it.
 */
const PUBLIC_FACTOR = 50;

/**
 * The limits of new accounts in 24 hours: of a mailbox, of an address (half of its network's), of its IPv4 /24 or IPv6 /48,
 * and of the registered domain of the mail address. The narrowest comes first, so that one mailbox does not use up others.
 */
function limitsOf({ config }: Limits, { email, address }: NewAccount): Limit[] {
  const { SIGN_UPS_PER_NETWORK: network, SIGN_UPS_PER_MAIL_DOMAIN: mailDomain } = config;
  const domain = mailDomainOf(email);
  const wide = widerNetworkOf(address) === networkOf(address) ? subnetOf(address) : widerNetworkOf(address);
  const limit = (of: string, times: number): Limit => ({
    key: `new-account:${of}`,
    allowance: { times, windowMs: DAY },
  });
  return [
    limit(`mailbox:${hashed(mailboxOf(email))}`, OF_MAILBOX),
    limit(`address:${networkOf(address)}`, Math.ceil(network / 2)),
    limit(`network:${wide}`, network),
    limit(`domain:${hashed(domain)}`, isPublicMail(domain) ? PUBLIC_FACTOR * mailDomain : mailDomain),
  ];
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Counts one new account, across all web processes and all ways to sign up. Call it when the user has shown that the
 * address is theirs, so that nobody uses up the limit of a domain with made-up addresses. A refused account counts
 * nowhere.
 *
 * @returns null when the account may be made; else from when on the next one may
 */
export async function takeSignUp(deps: Limits, account: NewAccount): Promise<Date | null> {
  const taken: string[] = [];
  for (const { key, allowance } of limitsOf(deps, account)) {
    // Unlike `useAllowance`, a refusal leaves the count alone: a place that is refunded later is free at once.
    const { taken: granted, resetAt } = await useAllowances(deps, key, allowance, 1);
    if (granted === 0) {
      await refundAll(deps, taken);
      return resetAt;
    }
    taken.push(key);
  }
  return null;
}

/**
 * Makes an account within the limits. When `make` throws, or makes none, nothing is counted.
 *
 * @param isMade - whether the result is a new account
 * @returns what `make` returned; or from when on the next account may be made
 */
export async function makeWithinLimits<T>(
  deps: Limits,
  account: NewAccount,
  make: () => Promise<T>,
  isMade: (result: T) => boolean = () => true,
): Promise<{ retryAt: Date } | { retryAt: null; result: T }> {
  const retryAt = await takeSignUp(deps, account);
  if (retryAt) return { retryAt };
  const giveBack = () =>
    refundAll(
      deps,
      limitsOf(deps, account).map(({ key }) => key),
    );
  const result = await make().catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  if (!isMade(result)) await giveBack();
  return { retryAt: null, result };
}

async function refundAll(deps: Limits, keys: string[]): Promise<void> {
  await Promise.all(keys.map((key) => refund(deps, key)));
}

/**
 * Whether the network of a request has used up its new accounts. Callers check this limit before they send a link: a
 * link that cannot make an account is not sent. The limit does not depend on the address, because the answer would tell
 * strangers whether accounts were made with it.
 *
 * @returns null when one more may be made; else from when on
 */
export async function networkSignUpsUsed(deps: Limits, address: string): Promise<Date | null> {
  const limits = limitsOf(deps, { email: '', address }).slice(1, 3);
  const found = await deps.rateLimits
    .find({ _id: { $in: limits.map(({ key }) => key) }, resetAt: { $gt: deps.clock.now() } })
    .toArray();
  const used = limits.flatMap(({ key, allowance }) => {
    const limit = found.find(({ _id }) => _id === key);
    return limit && limit.count >= allowance.times ? [limit.resetAt] : [];
  });
  return used[0] ?? null;
}
