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
  /** The name of this process, stored in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** A vote whose attempt is recorded and may now be made. */
export type Taken = { vote: Vote; attempt: Attempt };

export type TakeReason = {
  /** Whether the attempt tests an unreachable listener. */
  test: boolean;
  /** When the sweep found due work of this listener; absent if the sweep did not start the drain. */
  relayedAt?: Date | undefined;
};

/**
 * The cause of an attempt, as fields of its record (aggregation expressions on the waiting vote,
 * docs/adr/0053-cause-of-an-attempt.md). For a test, it is what made the test due. Otherwise it is the later of two
 * events: the vote's own next time came (`dueBy`), or the listener's votes could go out again (`released`).
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
  // `relayed` marks attempts whose wake-up job was lost. Retries by the schedule have no such job, so they are not
  // marked.
  const uncalled = { $and: [{ $ne: [wokenBy, 'schedule'] }, { $gte: [relayedAt, dueAt] }] };
  return { wokenBy, relayed: { $cond: [uncalled, true, '$$REMOVE'] } };
}

/** The fields of a listener that taking votes reads. */
export type ListenerOfTake = Parameters<typeof nextAnswerStep>[0] &
  Pick<Listener, 'serverId' | 'revision' | 'breaker' | 'released' | 'lease' | 'maxSendings'>;

/** The order in which a listener's votes go out: that of the index `DUE_VOTES`. */
export const QUEUE_ORDER = { 'delivery.nextAt': 1, _id: 1 } as const;

/**
 * The waiting votes that may be sent now. If the attempt is a test, the vote's own next time is ignored. Votes that were
 * sent as often as the owner allows are among them: see `giveUpSentVotes`.
 */
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

/** A new attempt. If MongoDB's answer to the write that records it is lost, its id shows which votes were taken. */
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

/** The update that records an attempt on its vote (design rule 4). */
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

/**
 * The vote as `attemptUpdate` stores it, built in memory without what MongoDB computes: the cause of the attempt and
 * the end of its lease.
 */
export function takenVote(vote: Vote, attempt: Attempt): Taken {
  const { nextAt: _, dueBy: __, ...delivery } = vote.delivery;
  const attempts = [...delivery.attempts, attempt].slice(-MOST_ATTEMPT_DETAILS);
  const attemptCount = delivery.attemptCount + 1;
  return { vote: { ...vote, delivery: { ...delivery, state: 'sending', attemptCount, attempts } }, attempt };
}

/** `attemptLeaseMs` as an aggregation expression. The step is as in `answerStepOf`, computed from the stored vote. */
function leaseOfAttempt(config: RecordDeps['config'], answerStep: number): Document {
  const leases = Array.from({ length: LAST_ANSWER_STEP + 1 }, (_, step) => attemptLeaseMs(config, step));
  const step = { $min: [{ $max: ['$delivery.ambiguousEnds', answerStep] }, LAST_ANSWER_STEP] };
  return { $arrayElemAt: [leases, step] };
}

/** The update that removes an attempt that was not made. The vote waits again and is the first in its queue. */
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

/** The step of `answerTimeoutMs`: the number of the vote's ambiguous outcomes or, if higher, the listener's step. */
export function answerStepOf({ vote, attempt }: Taken): number {
  return Math.max(vote.delivery.ambiguousEnds, attempt.answerStep ?? 0);
}
