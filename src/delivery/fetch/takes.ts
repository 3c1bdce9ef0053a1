import type { ObjectId } from 'mongodb';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';
import { createLocalLimit, type LocalLimit } from '../../platform/limits/local-limit.ts';
import type { ChannelDeps } from '../due-votes-channel.ts';
import type { TakeTurns } from './take-or-wait.ts';
import { WaitingTakes } from './waiting-takes.ts';

/** Takes of one server in a minute, in each process. */
const TAKES_A_MINUTE = 600;

/** The state that all takes of a web process share. */
export type Takes = {
  waiting: WaitingTakes;
  turns: TakeTurns;
  limit: LocalLimit;
};

export function createTakes(deps: ChannelDeps): Takes {
  const limit = createLocalLimit(deps.clock, { times: TAKES_A_MINUTE, windowMs: MINUTE });
  return { waiting: new WaitingTakes(deps), turns: new Map(), limit };
}

/**
 * Counts a take. Like the limits of claim keys, these are counted in each process, so a refused call costs no write.
 *
 * @param waits - whether it waits if no vote is due
 * @returns null when it is allowed; else when the next one is
 */
export function refusedUntil(
  { waiting, limit }: Takes,
  clock: Clock,
  serverId: ObjectId,
  waits: boolean,
): Date | null {
  const nextAt = limit(serverId.toHexString());
  if (nextAt || !waits) return nextAt;
  const fullMs = waiting.fullFor(serverId);
  return fullMs > 0 ? after(clock.now(), fullMs) : null;
}
