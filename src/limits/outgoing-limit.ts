import type { Collection } from 'mongodb';
import { type Clock, MINUTE } from '../clock.ts';
import type { Config } from '../config.ts';
import { networkOf } from './network-of.ts';
import { giveBackTurn, type RateLimit, takeTurn } from './rate-limit.ts';

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
export type Admit = (address: string) => Promise<boolean>;

/** A destination that speaks the right protocol and cannot confirm what it takes has so many times as much. */
const GREETED_FACTOR = 6;

/** A connection that is about to be opened. */
export type Connection = {
  /** An IP address; an IPv6 /64 is one destination. */
  address: string;
  /** The account whose server it is made for; null where the server is nobody's. */
  accountId: string | null;
  /** It has greeted as what it is taken for. */
  hasGreeted: boolean;
};

/**
 * Takes one connection from the allowances of its destination and its account, over all processes. Destinations that
 * acknowledge what they are sent are not limited and take nothing.
 *
 * @returns null when it may be opened; else until when not, and which allowance is used up
 * @throws the driver's error when MongoDB fails
 */
export async function takeConnection(
  deps: OutgoingLimiting,
  { address, accountId, hasGreeted }: Connection,
): Promise<Limited | null> {
  const factor = hasGreeted ? GREETED_FACTOR : 1;
  const key = (of: string, id: string) => `outgoing:${of}:${hasGreeted ? 'greeted' : 'unproven'}:${id}`;
  const allowance = (times: number) => ({ times: times * factor, windowMs: MINUTE });
  const destination = key('destination', networkOf(address));
  const full = await takeTurn(deps, destination, allowance(deps.config.DESTINATION_LIMIT));
  if (full) return { until: full, by: 'destination' };
  if (accountId === null) return null;
  const account = key('account', accountId);
  const spent = await takeTurn(deps, account, allowance(deps.config.ACCOUNT_LIMIT));
  if (!spent) return null;
  await giveBackTurn(deps, destination);
  return { until: spent, by: 'account' };
}

/** Admits connections that are made for an account to addresses of which nothing is known. */
export function admitFor(deps: OutgoingLimiting, accountId: string | null): Admit {
  return async (address) => (await takeConnection(deps, { address, accountId, hasGreeted: false })) === null;
}
