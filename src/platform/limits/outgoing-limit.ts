import type { Collection } from 'mongodb';
import { type Clock, MINUTE } from '../clock.ts';
import type { Config } from '../config.ts';
import { defineLimit, type Limit, limitFor, timesBySetting } from './define-limit.ts';
import { networkOf } from './network-of.ts';
import { type RateLimit, takeAllOrNone } from './rate-limit.ts';

export type OutgoingLimitDeps = {
  rateLimits: Collection<RateLimit>;
  clock: Clock;
  config: Pick<Config, 'DESTINATION_LIMIT' | 'ACCOUNT_LIMIT'>;
};

/** Which allowance is used up: that of the destination, or that of the account that owns the server. */
export const LIMITED_BY = ['destination', 'account'] as const;

/** No connection may be opened before `until`. */
export type Limited = { until: Date; by: (typeof LIMITED_BY)[number] };

export type MayConnect = (address: string) => Promise<boolean>;

/**
 * A Votifier v1 listener sends a greeting but often confirms no vote. So for connections to a destination that has
 * greeted, the three allowances (see `takeConnection`) are this many times as large.
 */
const GREETED_FACTOR = 6;
/** The part of a destination's allowance that one account may use, so that one account alone cannot use it up. */
const PART_OF_ACCOUNT = 1 / 4;

const UNPROVEN = connectionLimits('unproven', {
  what: 'Connections to a destination that has acknowledged no vote',
  destination: 'address (an IPv6 /64 counts as one)',
  factor: 1,
});
const GREETED = connectionLimits('greeted', {
  what: 'Connections to a Votifier v1 listener that greets and never confirms, or to an HTTP listener that was set before challenges existed',
  destination: 'address and port',
  factor: GREETED_FACTOR,
});

function connectionLimits(
  kind: string,
  { what, destination, factor }: { what: string; destination: string; factor: number },
) {
  const connections = { what, windowMs: MINUTE, beyond: 'votes and probes wait' } as const;
  return {
    destination: defineLimit({
      ...connections,
      key: `outgoing:destination:${kind}`,
      of: destination,
      setting: 'DESTINATION_LIMIT',
      part: factor,
    }),
    account: defineLimit({
      ...connections,
      key: `outgoing:account:${kind}`,
      of: 'account, for all its servers',
      setting: 'ACCOUNT_LIMIT',
      part: factor,
    }),
    part: defineLimit({
      ...connections,
      key: `outgoing:part:${kind}`,
      of: `account and ${destination}`,
      setting: 'DESTINATION_LIMIT',
      part: factor * PART_OF_ACCOUNT,
    }),
  };
}

export type Connection = {
  /** An IP address; an IPv6 /64 is one destination. */
  address: string;
  port: number;
  /** Null when the server has no owner. */
  accountId: string | null;
  /**
   * Whether the destination took a vote without confirming it; for HTTP: whether it took votes before Tallyport had
   * listener challenges.
   */
  isProvenByGreeting: boolean;
};

/**
 * Counts one connection in three allowances, which all processes share: the destination's, the account's, and the
 * account's part of the destination's (without an account: only in the first). If one is used up, nothing is counted.
 * Callers count neither connections to a destination that has acknowledged a vote or a challenge, nor probes of a
 * server that is online.
 *
 * @returns null when the connection may be opened
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
  config: OutgoingLimitDeps['config'],
  { address, port, accountId, isProvenByGreeting }: Connection,
): ConnectionLimit[] {
  const limits = isProvenByGreeting ? GREETED : UNPROVEN;
  const network = networkOf(address);
  const target = isProvenByGreeting ? `${network}:${port}` : network;
  const destination = limitFor(timesBySetting(limits.destination, config), target);
  const byDestination = { ...destination, by: 'destination' } as const;
  if (accountId === null) return [byDestination];
  const ofAccount = [
    limitFor(timesBySetting(limits.account, config), accountId),
    limitFor(timesBySetting(limits.part, config), `${accountId}:${target}`),
  ];
  return [byDestination, ...ofAccount.map((limit) => ({ ...limit, by: 'account' }) as const)];
}

/** Counts each connection as one to a destination that has not greeted. */
export function mayConnectFor(deps: OutgoingLimitDeps, accountId: string | null, port: number): MayConnect {
  return async (address) =>
    (await takeConnection(deps, { address, port, accountId, isProvenByGreeting: false })) === null;
}
