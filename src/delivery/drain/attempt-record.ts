import { type Collection, type Document, type Filter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { attemptLeaseMs, LAST_ANSWER_STEP, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { nextAnswerStep } from '../../listeners/listener-state.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Attempt, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';
import { withAttempt } from '../timeline/older-attempts.ts';

/** The dependencies of taking votes and recording outcomes. */
export type RecordDeps = {
  votes: Collection<Vote>;
  clock: Clock;
  /** The name of this worker, stored in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** A vote whose attempt is recorded and may now be made. */
export type Taken = { vote: Vote; attempt: Attempt };

/**
 * A taken vote. `takenAt` is the time on `performance.now()` just before the vote was taken, so the attempt's lease
 * began no earlier.
 */
export type Ready = { taken: Taken; takenAt: number };

/** Why votes are taken. */
export type TakeReason = {
  /** Whether the attempt tests an unreachable listener. */
  test: boolean;
  /**
   * When the sweep found due work of this listener for which no job had been added; absent if a job started the drain.
   */
  relayedAt?: Date | undefined;
};

/**
 * Why the vote is attempted now, as fields of its attempt (aggregation expressions on the waiting vote). The cause is
 * the later one of two events: the vote's own next time came, or the listener's votes could go out again (`released`).
 * Absent when neither is on record.
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
  // `relayed` means that a wake-up job was lost. A retry whose time has come is always found by the sweep, so it is
  // not marked.
  const uncalled = { $and: [{ $ne: [wokenBy, 'schedule'] }, { $gte: [relayedAt, dueAt] }] };
  return { wokenBy, relayed: { $cond: [uncalled, true, '$$REMOVE'] } };
}

/** The fields of a listener that taking votes reads. */
export type TakeDeps = Pick<
  Listener,
  | 'serverId'
  | 'protocol'
  | 'revision'
  | 'breaker'
  | 'released'
  | 'lease'
  | 'answerStep'
  | 'maxSendings'
  | 'acknowledgedAt'
  | 'lastDeliveredAt'
  | 'updatedAt'
>;

/** The order in which a listener's votes go out. */
export const QUEUE_ORDER = { 'delivery.queuedAt': 1, _id: 1 } as const;

/**
 * The votes that may be sent now. For a test, the vote's own next time is ignored. If the owner has lowered the number
 * of sendings, votes that have already been sent that many times are excluded (see `giveUpSentVotes`).
 */
export function dueVotes(
  listener: Pick<Listener, 'serverId' | 'maxSendings'>,
  now: Date,
  { test }: { test: boolean },
): Filter<Vote> {
  return {
    serverId: listener.serverId,
    'delivery.queuedAt': { $exists: true },
    'delivery.state': 'waiting',
    'delivery.expiresAt': { $gt: now },
    'delivery.ambiguousEnds': { $lt: maxSendingsOf(listener) },
    ...(test ? {} : { 'delivery.nextAt': { $lte: now } }),
  };
}

/**
 * A new attempt. Its id is made before the write: if MongoDB's answer to the write is lost, the votes that were taken
 * are found by this id.
 */
export function newAttempt(
  processId: string,
  listener: TakeDeps,
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

/** The update that records an attempt on its vote. */
export function attemptUpdate(
  config: RecordDeps['config'],
  attempt: Attempt,
  listener: TakeDeps,
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
 * The vote as it is after `attemptUpdate`, built in memory. Only the cause of the attempt is missing: MongoDB computes
 * it.
 */
export function takenVote(vote: Vote, attempt: Attempt): Taken {
  const { nextAt: _, dueBy: __, ...delivery } = vote.delivery;
  const attempts = [...delivery.attempts, attempt].slice(-MOST_ATTEMPT_DETAILS);
  const attemptCount = delivery.attemptCount + 1;
  return { vote: { ...vote, delivery: { ...delivery, state: 'sending', attemptCount, attempts } }, attempt };
}

/**
 * An attempt's lease in milliseconds, as an aggregation expression on its vote. It is longer than the deadline for the
 * answer.
 */
function leaseOfAttempt(config: RecordDeps['config'], answerStep: number): Document {
  const leases = Array.from({ length: LAST_ANSWER_STEP + 1 }, (_, step) => attemptLeaseMs(config, step));
  const step = { $min: [{ $max: ['$delivery.ambiguousEnds', answerStep] }, LAST_ANSWER_STEP] };
  return { $arrayElemAt: [leases, step] };
}

/** The update that removes an attempt that was not made, so that its vote waits as before and is due at `now`. */
export function withoutAttempt(id: Attempt['id'], now: Date): Document[] {
  const attempts = (cond: Document) => ({ $filter: { input: '$delivery.attempts', as: 'attempt', cond } });
  const [own, others] = [{ $eq: ['$$attempt.id', id] }, { $ne: ['$$attempt.id', id] }];
  // The next attempt gets the cause of the removed one.
  const cause = { $getField: { field: 'wokenBy', input: { $first: attempts(own) } } };
  return [
    {
      $set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': now,
        'delivery.dueBy': { $ifNull: [cause, '$$REMOVE'] },
        'delivery.attemptCount': { $subtract: ['$delivery.attemptCount', 1] },
        'delivery.attempts': attempts(others),
      },
    },
    { $unset: ['delivery.leaseUntil', 'delivery.requestId'] },
  ];
}

/** How long the lease of an attempt lasts, in milliseconds. */
export function leaseMsOf(config: RecordDeps['config'], taken: Taken): number {
  return taken.attempt.leaseMs ?? attemptLeaseMs(config, answerStepOf(taken));
}

/**
 * The step that decides how long to wait for the answer: the number of ambiguous outcomes of this vote, or the
 * listener's step if that is higher.
 */
export function answerStepOf({ vote, attempt }: Taken): number {
  return Math.max(vote.delivery.ambiguousEnds, attempt.answerStep ?? 0);
}
