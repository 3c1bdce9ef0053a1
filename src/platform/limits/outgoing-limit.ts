import type { Collection } from 'mongodb';
import { type Clock, MINUTE } from '../clock.ts';
import type { Config } from '../config.ts';
import { networkOf } from './network-of.ts';
import { type RateLimit, refund, useAllowance } from './rate-limit.ts';

/** What the limits of outgoing connections work on. */
export type OutgoingLimiting = {
  rateLimits: Collection<RateLimit>;
  clock: Clock;
  config: Pick<Config, 'DESTINATION_LIMIT' | 'ACCOUNT_LIMIT'>;
};

/** Which allowance is used up: the destination's, or that of the account whose server it is. */
export const LIMITED_BY = ['destination', 'account'] as const;

/** No connection may be opened before `until`. */
export type Limited = { until: Date; by: (typeof LIMITED_BY)[number] };

/** Whether a connection to an address may be opened now. */
export type MayConnect = (address: string) => Promise<boolean>;

/** Votifier v1 listeners need not confirm: their limits are this many times higher. */
const GREETED_FACTOR = 6;
/** What one account may take of a destination's allowance: two accounts must not use up what others share. */
const PART_OF_ACCOUNT = 1 / 4;

/** A connection that is about to be opened. */
export type Connection = {
  /** An IP address; an IPv6 /64 is one destination. */
  address: string;
  port: number;
  /** The account whose server it is made for; null where the server is nobody's. */
  accountId: string | null;
  /** It has greeted as what it is taken for. */
  hasGreeted: boolean;
};

/**
 * Takes one connection from the allowances of its destination, of its account, and of the account's part of the
 * destination, over all processes. A destination is an address; one that has greeted is an address and port, so that
 * listeners on other ports take nothing from it. Destinations that acknowledge are not limited and take nothing.
 *
 * @returns null when it may be opened; else until when not, and which allowance is used up
 * @throws the driver's error when MongoDB fails
 */
export async function takeConnection(
  deps: OutgoingLimiting,
  connection: Connection,
): Promise<Limited | null> {
  const taken: string[] = [];
  for (const { key, times, by } of limitsOf(deps.config, connection)) {
    const until = await useAllowance(deps, key, { times, windowMs: MINUTE });
    if (until) {
      await Promise.all(taken.map((one) => refund(deps, one)));
      return { until, by };
    }
    taken.push(key);
  }
  return null;
}

type ConnectionLimit = { key: string; times: number; by: Limited['by'] };

function limitsOf(
  { DESTINATION_LIMIT, ACCOUNT_LIMIT }: OutgoingLimiting['config'],
  { address, port, accountId, hasGreeted }: Connection,
): ConnectionLimit[] {
  const factor = hasGreeted ? GREETED_FACTOR : 1;
  const network = networkOf(address);
  const place = hasGreeted ? `${network}:${port}` : network;
  const key = (of: string, id: string) => `outgoing:${of}:${hasGreeted ? 'greeted' : 'unproven'}:${id}`;
  const times = DESTINATION_LIMIT * factor;
  const destination: ConnectionLimit = { key: key('destination', place), times, by: 'destination' };
  if (accountId === null) return [destination];
  return [
    destination,
    { key: key('account', accountId), times: ACCOUNT_LIMIT * factor, by: 'account' },
    { key: key('part', `${accountId}:${place}`), times: Math.ceil(times * PART_OF_ACCOUNT), by: 'account' },
  ];
}

/** Admits connections to `port` that are made for an account to addresses of which nothing is known. */
export function mayConnectFor(deps: OutgoingLimiting, accountId: string | null, port: number): MayConnect {
  return async (address) =>
    (await takeConnection(deps, { address, port, accountId, hasGreeted: false })) === null;
}
