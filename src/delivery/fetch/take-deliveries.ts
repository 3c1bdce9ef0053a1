import type { Filter } from 'mongodb';
import { maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { SECOND } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';
import { type Attempt, DUE_VOTES, type Vote } from '../../votes/vote.ts';
import type { DeliveryDeps } from '../deps.ts';
import {
  attemptUpdate,
  dueVotes,
  type ListenerOfTake,
  newAttempt,
  QUEUE_ORDER,
  type Taken,
  withoutAttempt,
} from '../drain/attempt-record.ts';
import { readAllowed, sentLessOftenThan } from '../drain/sent-votes.ts';
import { takesLoader } from '../drain/shared-takes.ts';
import { takenOf, takenTogether } from '../drain/take-votes.ts';

/** If it is repeated with the same `requestId`, it gets those votes again that are not settled. */
export type TakeCall = { most: number; leaseMs: number; requestId?: string | undefined };

export type TakenDelivery = Taken & { leaseLeftMs: number };

/** If other takers took all votes that a call has found, it looks again, at most this many times. */
const MOST_ROUNDS = 4;

/** A program that fetches hands over its votes one after the other. */
const HANDED_OVER_AT_ONCE = 1;

const OLDEST_FIRST = { votedAt: 1 } as const;
const OF_FETCH = { test: false } as const;

/**
 * Takes due votes of a listener that fetches, in queue order. One durable write records an attempt with the taker's
 * lease on each (design rule 4); it takes only votes that still wait, so each goes to one taker. A repeated `requestId`
 * gets the same unsettled votes while their leases run, also during a pause.
 */
export async function takeDeliveries(
  deps: DeliveryDeps,
  listener: ListenerOfTake & Pick<Listener, 'pause'>,
  { most, leaseMs, requestId }: TakeCall,
): Promise<TakenDelivery[]> {
  const { votes, clock, batcher, config, processId } = deps;
  const { serverId } = listener;
  if (requestId) {
    const again = await takeAgain(deps, serverId, requestId, most);
    if (again.length > 0) return again;
  }
  if (listener.pause) return [];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const now = clock.now();
    const due = dueVotes(serverId, now, OF_FETCH);
    const allowed = await readAllowed(votes, listener, most, (limit) =>
      votes.find(due, { sort: QUEUE_ORDER, limit, hint: DUE_VOTES }).toArray(),
    );
    // A vote whose next ambiguous outcome would be its last is taken first. Others are not: after a program died with
    // many votes, each would need a call of its own.
    const next = takenTogether(allowed, HANDED_OVER_AT_ONCE, maxSendingsOf(listener) - 2);
    if (next.length === 0) return [];
    const attempt: Attempt = {
      ...newAttempt(processId, listener, OF_FETCH, now),
      leaseMs,
      ...(requestId ? { requestId } : {}),
    };
    const ids = next.map(({ _id }) => _id);
    const statement = {
      q: { ...due, ...sentLessOftenThan(maxSendingsOf(listener)), _id: { $in: ids } },
      u: attemptUpdate(config, attempt, listener, OF_FETCH),
      multi: true,
      hint: '_id_',
    };
    const begunAt = performance.now();
    try {
      const isWhole = await batcher.load(takesLoader, votes, { statement, size: ids.length });
      const taken = await takenOf(deps, next, attempt, isWhole);
      const leaseLeftMs = Math.max(0, leaseMs - (performance.now() - begunAt));
      if (taken.length > 0) return taken.map((one) => ({ ...one, leaseLeftMs }));
    } catch (error) {
      // The write may have taken some votes before it failed. The call does not wait for this.
      void giveBackDeliveries(
        deps,
        next.map((vote) => ({ vote, attempt })),
      );
      throw error;
    }
  }
  return [];
}

/**
 * The oldest `most` unsettled votes that were taken with `requestId` and whose leases have not ended. They are marked
 * as `repeated`: if the client of the earlier call has left, that call does not give them back. It gives back the
 * others.
 */
async function takeAgain(
  { votes }: DeliveryDeps,
  serverId: Vote['serverId'],
  requestId: string,
  most: number,
): Promise<TakenDelivery[]> {
  const open: Filter<Vote> = {
    serverId,
    'delivery.requestId': requestId,
    'delivery.state': 'sending',
    $expr: { $gt: ['$delivery.leaseUntil', '$$NOW'] },
  };
  const oldest = await votes
    .find(open, { sort: OLDEST_FIRST, limit: most, projection: { _id: 1 } })
    .toArray();
  if (oldest.length === 0) return [];
  const again = { ...open, _id: { $in: oldest.map(({ _id }) => _id) } };
  await votes.updateMany(
    again,
    { $set: { 'delivery.attempts.$[attempt].repeated': true } },
    {
      arrayFilters: [{ 'attempt.requestId': requestId, 'attempt.code': { $exists: false } }],
      writeConcern: DURABLE,
    },
  );
  const repeated = { $elemMatch: { requestId, repeated: true, code: { $exists: false } } } as const;
  const found = await votes
    .aggregate<Vote & { leaseLeftMs: number }>([
      { $match: { ...again, 'delivery.attempts': repeated } },
      { $set: { leaseLeftMs: { $subtract: ['$delivery.leaseUntil', '$$NOW'] } } },
      { $sort: OLDEST_FIRST },
    ])
    .toArray();
  return found.flatMap(({ leaseLeftMs, ...vote }) => {
    const attempt = vote.delivery.attempts.at(-1);
    return attempt ? [{ vote, attempt, leaseLeftMs }] : [];
  });
}

/** The election of a new primary takes less. */
const GIVEN_BACK_FOR_MS = 10 * SECOND;

/**
 * Gives back votes whose taker left, or whose take failed: they wait as if never taken, unless a repeated call got them
 * too. Never throws: if MongoDB fails, the attempts are lost when their leases have ended.
 */
export async function giveBackDeliveries(deps: DeliveryDeps, taken: Taken[]): Promise<void> {
  const [first] = taken;
  if (!first) return;
  const { votes, log } = deps;
  const { serverId } = first.vote;
  const { id } = first.attempt;
  const ids = taken.map(({ vote }) => vote._id);
  const unseen = { $elemMatch: { id, code: { $exists: false }, repeated: { $exists: false } } } as const;
  const which = {
    serverId,
    _id: { $in: ids },
    'delivery.state': 'sending',
    'delivery.attempts': unseen,
  } as const;
  const until = performance.now() + GIVEN_BACK_FOR_MS;
  const giveBack = () => votes.updateMany(which, withoutAttempt(id), { writeConcern: DURABLE });
  try {
    await retry(giveBack, { deadline: () => until, signal: AbortSignal.timeout(GIVEN_BACK_FOR_MS) });
  } catch (error) {
    log.warn({ event: 'delivery.not_released', serverId: serverId.toHexString(), reason: String(error) });
  }
}
