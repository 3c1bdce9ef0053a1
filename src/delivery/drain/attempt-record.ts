import { type Collection, type Document, type Filter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { attemptLeaseMs, LAST_ANSWER_STEP, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Attempt, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';
import { causeOfAttempt, type TakeReason } from '../attempt-cause.ts';
import { withAttempt } from '../timeline/older-attempts.ts';
import type { Taken } from './after-attempt.ts';

/** What taking votes and recording outcomes work on. */
export type RecordDeps = {
  votes: Collection<Vote>;
  clock: Clock;
  /** The worker's name in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** The fields of a listener that are read when votes are taken. */
export type TakeDeps = Pick<
  Listener,
  'serverId' | 'protocol' | 'revision' | 'breaker' | 'released' | 'lease' | 'answerStep' | 'maxSendings'
>;

/** The order in which a listener's votes go out. */
export const QUEUE_ORDER = { 'delivery.queuedAt': 1, _id: 1 } as const;

/**
 * The votes that may be sent now. A test ignores the vote's own next time. Votes that were sent as often as the owner
 * allows are excluded: the limit may have been lowered since (see `giveUpSentVotes`).
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

/** A new attempt. Its id is known before it is recorded, so the vote can be found if MongoDB's answer is lost. */
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
    answerStep: listener.answerStep ?? 0,
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
        'delivery.leaseUntil': { $add: ['$$NOW', leaseOfAttempt(config, attempt.answerStep ?? 0)] },
        'delivery.attemptCount': { $add: ['$delivery.attemptCount', 1] },
        ...withAttempt({ $mergeObjects: [{ $literal: attempt }, causeOfAttempt(listener, reason)] }),
      },
    },
    { $unset: ['delivery.nextAt', 'delivery.dueBy'] },
  ];
}

/** A vote with the attempt that `attemptUpdate` recorded on it; only the database has the attempt's cause. */
export function takenVote(vote: Vote, attempt: Attempt): Taken {
  const { nextAt: _, dueBy: __, ...delivery } = vote.delivery;
  const attempts = [...delivery.attempts, attempt].slice(-MOST_ATTEMPT_DETAILS);
  const attemptCount = delivery.attemptCount + 1;
  return { vote: { ...vote, delivery: { ...delivery, state: 'sending', attemptCount, attempts } }, attempt };
}

/** An attempt's lease in milliseconds, as an aggregation expression on its vote: longer than the answer's deadline. */
function leaseOfAttempt(config: RecordDeps['config'], answerStep: number): Document {
  const leases = Array.from({ length: LAST_ANSWER_STEP + 1 }, (_, step) => attemptLeaseMs(config, step));
  const step = { $min: [{ $max: ['$delivery.ambiguousEnds', answerStep] }, LAST_ANSWER_STEP] };
  return { $arrayElemAt: [leases, step] };
}

/** A vote as it was before `attemptUpdate`, due at `now`, as an update. */
export function withoutAttempt(id: Attempt['id'], now: Date): Document[] {
  const attempts = (cond: Document) => ({ $filter: { input: '$delivery.attempts', as: 'attempt', cond } });
  const [own, others] = [{ $eq: ['$$attempt.id', id] }, { $ne: ['$$attempt.id', id] }];
  // The next attempt gets the cause of the attempt that was not made.
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
    { $unset: 'delivery.leaseUntil' },
  ];
}
