import { type Collection, type Condition, type Document, type Filter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { attemptLeaseMs, LAST_ANSWER_STEP, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { nextAnswerStep } from '../../listeners/listener-state.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Attempt, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';
import { withAttempt } from '../timeline/older-attempts.ts';

export type RecordDeps = {
  votes: Collection<Vote>;
  clock: Clock;
  batcher: Batcher;
  /** Stored in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** The attempt is recorded and may now be made. */
export type Taken = { vote: Vote; attempt: Attempt };

export type TakeReason = {
  test: boolean;
  /** When the sweep found due work; absent if it did not start the drain. */
  relayedAt?: Date | undefined;
};

/**
 * Expressions on the waiting vote (docs/adr/0053-cause-of-an-attempt.md). A test: what made it due. Otherwise the later
 * of: the vote's own next time came (`dueBy`), or the listener's votes could go out again (`released`).
 */
function causeOfAttempt(
  { breaker, released }: Pick<Listener, 'breaker' | 'released'>,
  { test, relayedAt }: TakeReason,
): Document {
  if (test) return { wokenBy: breaker.hastenedBy ?? 'listener-test' };
  const ownTime = '$delivery.nextAt';
  const wokenBy = released
    ? { $cond: [{ $gte: [released.at, ownTime] }, released.by, '$delivery.dueBy'] }
    : '$delivery.dueBy';
  if (!relayedAt) return { wokenBy };
  const dueAt = released ? { $max: [released.at, ownTime] } : ownTime;
  // `relayed`: the wake-up job was lost. Retries by the schedule have no such job.
  const uncalled = { $and: [{ $ne: [wokenBy, 'schedule'] }, { $gte: [relayedAt, dueAt] }] };
  return { wokenBy, relayed: { $cond: [uncalled, true, '$$REMOVE'] } };
}

export type ListenerOfTake = Parameters<typeof nextAnswerStep>[0] &
  Pick<Listener, 'serverId' | 'revision' | 'breaker' | 'released' | 'lease' | 'maxSendings'>;

/** That of the index `DUE_VOTES`. */
export const QUEUE_ORDER = { 'delivery.nextAt': 1, _id: 1 } as const;

/** A test ignores the vote's own next time. Votes that were sent as often as allowed are among them. */
export function dueVotes(
  serverId: Condition<Vote['serverId']>,
  now: Date,
  { test }: { test: boolean },
): Filter<Vote> {
  return {
    serverId,
    'delivery.state': 'waiting',
    'delivery.nextAt': test ? { $exists: true } : { $lte: now },
    'delivery.expiresAt': { $gt: now },
  };
}

/** If MongoDB's answer to the write is lost, the id shows which votes were taken. */
export function newAttempt(
  processId: string,
  listener: ListenerOfTake,
  { test }: { test: boolean },
  at: Date,
): Attempt {
  return {
    id: new UUID(uuidv7()),
    at,
    worker: processId,
    protocol: listener.protocol,
    revision: listener.revision,
    test,
    answerStep: nextAnswerStep(listener),
    maxSendings: maxSendingsOf(listener),
  };
}

/** Design rule 4. */
export function attemptUpdate(
  config: RecordDeps['config'],
  attempt: Attempt,
  listener: ListenerOfTake,
  reason: TakeReason,
): Document[] {
  return [
    {
      $set: {
        'delivery.state': 'sending',
        'delivery.leaseUntil': {
          $add: ['$$NOW', attempt.leaseMs ?? leaseOfAttempt(config, attempt.answerStep ?? 0)],
        },
        ...(attempt.requestId ? { 'delivery.requestId': { $literal: attempt.requestId } } : {}),
        'delivery.attemptCount': { $add: ['$delivery.attemptCount', 1] },
        ...withAttempt({ $mergeObjects: [{ $literal: attempt }, causeOfAttempt(listener, reason)] }),
      },
    },
    { $unset: ['delivery.nextAt', 'delivery.dueBy'] },
  ];
}

/** The vote as `attemptUpdate` stores it, without what MongoDB computes: cause and end of the lease. */
export function takenVote(vote: Vote, attempt: Attempt): Taken {
  const { nextAt: _, dueBy: __, ...delivery } = vote.delivery;
  const attempts = [...delivery.attempts, attempt].slice(-MOST_ATTEMPT_DETAILS);
  const attemptCount = delivery.attemptCount + 1;
  return { vote: { ...vote, delivery: { ...delivery, state: 'sending', attemptCount, attempts } }, attempt };
}

/** `attemptLeaseMs` as an expression; the step is as in `answerStepOf`. */
function leaseOfAttempt(config: RecordDeps['config'], answerStep: number): Document {
  const leases = Array.from({ length: LAST_ANSWER_STEP + 1 }, (_, step) => attemptLeaseMs(config, step));
  const step = { $min: [{ $max: ['$delivery.ambiguousEnds', answerStep] }, LAST_ANSWER_STEP] };
  return { $arrayElemAt: [leases, step] };
}

/** The vote waits again and is the first in its queue. */
export function withoutAttempt(id: Attempt['id']): Document[] {
  const attempts = (cond: Document) => ({ $filter: { input: '$delivery.attempts', as: 'attempt', cond } });
  const [own, others] = [{ $eq: ['$$attempt.id', id] }, { $ne: ['$$attempt.id', id] }];
  // The next attempt has the same cause as the removed one.
  const cause = { $getField: { field: 'wokenBy', input: { $first: attempts(own) } } };
  return [
    {
      $set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': '$delivery.queuedAt',
        'delivery.dueBy': { $ifNull: [cause, '$$REMOVE'] },
        'delivery.attemptCount': { $subtract: ['$delivery.attemptCount', 1] },
        'delivery.attempts': attempts(others),
      },
    },
    { $unset: ['delivery.leaseUntil', 'delivery.requestId'] },
  ];
}

/** The number of the vote's ambiguous outcomes or, if higher, the listener's step. */
export function answerStepOf({ vote, attempt }: Taken): number {
  return Math.max(vote.delivery.ambiguousEnds, attempt.answerStep ?? 0);
}
