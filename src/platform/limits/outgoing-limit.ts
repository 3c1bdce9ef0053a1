import type { Collection } from 'mongodb';
import { type Clock, MINUTE } from '../clock.ts';
import type { Config } from '../config.ts';
import { networkOf } from './network-of.ts';
import { type Limit, type RateLimit, takeAllOrNone } from './rate-limit.ts';

export type OutgoingLimitDeps = {
  rateLimits: Collection<RateLimit>;
  clock: Clock;
  config: Pick<Config, 'DESTINATION_LIMIT' | 'ACCOUNT_LIMIT'>;
};

/** Which allowance is used up: that of the destination, or that of the account that owns the server. */
export const LIMITED_BY = ['destination', 'account'] as const;

/** No connection may be opened before `until`. */
export type Limited = { until: Date; by: (typeof LIMITED_BY)[number] };

/** Whether a connection to an address may be opened now. */
export type MayConnect = (address: string) => Promise<boolean>;

/**
 * A Votifier v1 listener sends a greeting but often confirms no vote. So for connections to a destination that has
 * greeted, the three allowances (see `takeConnection`) are this many times as large.
 */
const GREETED_FACTOR = 6;
/** The part of a destination's allowance that one account may use, so that one account alone cannot use it up. */
const PART_OF_ACCOUNT = 1 / 4;

/** A connection that is about to be opened. */
export type Connection = {
  /** An IP address; an IPv6 /64 is one destination. */
  address: string;
  port: number;
  /** The account that owns the server; null when the server has no owner. */
  accountId: string | null;
  /**
   * Whether the destination took a vote without confirming it; for HTTP: whether it took votes before Tallyport had
   * listener challenges.
   */
  isProvenByGreeting: boolean;
};

/**
 * Counts one connection in three allowances, which all processes share: the destination's, the account's, and the
 * account's part of the destination's (without an account: only in the destination's). If one of them is used up,
 * nothing is counted. A destination is an address. Once it has greeted, it is an address with a port, so that listeners
 * on different ports do not share an allowance. Callers count neither connections to a destination that has
 * acknowledged a vote or a challenge, nor probes of a server that is online.
 *
 * @returns null when the connection may be opened; otherwise when it may be opened, and which allowance is used up
 * @throws the driver's error when MongoDB fails
 */
export async function takeConnection(
  deps: OutgoingLimitDeps,
  connection: Connection,
): Promise<Limited | null> {
  const refused = await takeAllOrNone(deps, limitsOf(deps.config, connection));
  return refused && { until: refused.until, by: refused.limit.by };
}

type ConnectionLimit = Limit & { by: Limited['by'] };

function limitsOf(
  { DESTINATION_LIMIT, ACCOUNT_LIMIT }: OutgoingLimitDeps['config'],
  { address, port, accountId, isProvenByGreeting }: Connection,
): ConnectionLimit[] {
  const factor = isProvenByGreeting ? GREETED_FACTOR : 1;
  const network = networkOf(address);
  const target = isProvenByGreeting ? `${network}:${port}` : network;
  const limit = (by: Limited['by'], of: string, id: string, times: number): ConnectionLimit => ({
    key: `outgoing:${of}:${isProvenByGreeting ? 'greeted' : 'unproven'}:${id}`,
    allowance: { times, windowMs: MINUTE },
    by,
  });
  const times = DESTINATION_LIMIT * factor;
  const destination = limit('destination', 'destination', target, times);
  if (accountId === null) return [destination];
  return [
    destination,
    limit('account', 'account', accountId, ACCOUNT_LIMIT * factor),
    limit('account', 'part', `${accountId}:${target}`, Math.ceil(times * PART_OF_ACCOUNT)),
  ];
}

/** Returns a check for one account and port. It counts each connection as one to a destination that has not greeted. */
export function mayConnectFor(deps: OutgoingLimitDeps, accountId: string | null, port: number): MayConnect {
  return async (address) =>
    (await takeConnection(deps, { address, port, accountId, isProvenByGreeting: false })) === null;
}
