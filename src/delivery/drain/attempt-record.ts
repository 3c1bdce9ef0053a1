import { type Collection, type Document, type Filter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { Cause } from '../../listeners/causes.ts';
import { attemptLeaseMs, delayAt, LAST_ANSWER_STEP, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { nextAnswerStep } from '../../listeners/listener-state.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import { after, type Clock } from '../../platform/clock.ts';
import { type Attempt, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';
import { withAttempt } from '../timeline/older-attempts.ts';

/** The dependencies of taking votes and recording outcomes. */
export type RecordDeps = {
  votes: Collection<Vote>;
  clock: Clock;
  /** The worker's name in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** A vote whose attempt is recorded and may now be made. */
export type Taken = { vote: Vote; attempt: Attempt };

/** A taken vote, and when its taking began on `performance.now()`: not later than its lease. */
export type Ready = { taken: Taken; claimedAt: number };

/** Why votes are taken. */
export type TakeReason = {
  /** It tests an unreachable listener. */
  test: boolean;
  /** When the sweep found due work of this listener that no job had been added for. */
  relayedAt?: Date | undefined;
};

/**
 * Why the taken vote is attempted now, as fields of its attempt (aggregation expressions on the waiting vote): its own
 * next time or the listener's release, whichever was later. Absent when neither is on record.
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
  // The sweep always finds votes whose own next time has come: that is not worth recording.
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

/** A new attempt. Its id is known before it is recorded, so the taken votes can be found when MongoDB's answer is lost. */
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

/** The step of the answer's deadline: the ambiguous outcomes of this vote, or the listener's step if that is higher. */
export function answerStepOf({ vote, attempt }: Taken): number {
  return Math.max(vote.delivery.ambiguousEnds, attempt.answerStep ?? 0);
}

/** The fields that are removed from a vote when it leaves the queue. */
export const DELIVERY_ENDED = {
  'delivery.queuedAt': '',
  'delivery.expiresAt': '',
  'delivery.leaseUntil': '',
  'delivery.nextAt': '',
  'delivery.dueBy': '',
} as const;

/** Whether the challenge was refused in the attempt before as well: it is retried at once only once. */
function challengeRefusedBefore(vote: Vote): boolean {
  return vote.delivery.attempts.at(-2)?.code === 'challenge-refused';
}

/** An attempt whose vote was given back is not counted. */
export const NOT_COUNTED = { 'delivery.attemptCount': -1 } as const;

/** The change of a vote after an outcome. */
export type Change = {
  set: Record<string, unknown>;
  unset: Record<string, ''>;
  inc?: Record<string, number>;
};

/** The final state of a vote that is not retried after `outcome`; null when it is delivered or waits again. */
export function givenUpAfter(
  { vote, attempt }: Taken,
  outcome: Pick<Outcome, 'class'>,
): 'failed' | 'unconfirmed' | null {
  if (outcome.class === 'vote-only') return 'failed';
  const sendings = vote.delivery.ambiguousEnds + 1;
  return outcome.class === 'ambiguous' && sendings >= maxSendingsOf(attempt) ? 'unconfirmed' : null;
}

/** The attempt with the current limit of sendings: the owner may have lowered it since the attempt began. */
export function asAllowedNow({ vote, attempt }: Taken, listener: Pick<Listener, 'maxSendings'>): Taken {
  const maxSendings = Math.min(maxSendingsOf(attempt), maxSendingsOf(listener));
  return { vote, attempt: { ...attempt, maxSendings } };
}

/**
 * The update of a vote after an outcome. Every counted failure except that of a test uses a step of the schedule. A vote
 * that failed a test moves to the end of the queue.
 */
export function afterAttempt(taken: Taken, outcome: Outcome, now: Date, schedule: readonly number[]): Change {
  const { vote, attempt } = taken;
  const { step, ends } = vote.delivery;
  const givenUp = givenUpAfter(taken, outcome);
  switch (outcome.class) {
    case 'delivered':
      return { set: { 'delivery.state': 'delivered', 'delivery.deliveredAt': now }, unset: DELIVERY_ENDED };
    case 'vote-only':
      return { set: { 'delivery.state': givenUp }, unset: DELIVERY_ENDED };
    case 'ambiguous':
      if (givenUp) {
        return {
          set: { 'delivery.state': givenUp },
          unset: DELIVERY_ENDED,
          inc: { 'delivery.ambiguousEnds': 1 },
        };
      }
      return { ...waitAgain(), inc: { 'delivery.ambiguousEnds': 1, ...usedStep() } };
    case 'transient':
      if (outcome.code === 'challenge-refused' && !challengeRefusedBefore(vote))
        return waitAgain(now, 'challenge-retry');
      return { ...waitAgain(), inc: usedStep() };
    case 'configuration':
      // The listener is paused as a result, so the vote waits, unless the settings were changed meanwhile.
      return waitAgain(now);
    case 'none':
      return {
        // Uses no step. A lasting error of our own must still not be retried every few seconds for three days.
        ...(outcome.code === 'our-fault'
          ? waitAgain(after(now, delayAt(schedule, 1 + (ends.none ?? 0))))
          : waitAgain(now, 'given-back')),
        inc: NOT_COUNTED,
      };
  }

  function usedStep() {
    return attempt.test ? {} : { 'delivery.step': 1 };
  }

  /** The next time of its schedule; later if the listener requested that. */
  function nextRetryAt(): Date {
    const delay = attempt.test ? 0 : delayAt(schedule, step + 1);
    return after(now, Math.max(delay, outcome.retryAfterMs ?? 0));
  }

  function waitAgain(nextAt = nextRetryAt(), dueBy: Cause = 'schedule') {
    return {
      set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': nextAt,
        'delivery.dueBy': dueBy,
        ...(attempt.test && outcome.code !== 'stopped-before-written' ? { 'delivery.queuedAt': now } : {}),
      },
      unset: { 'delivery.leaseUntil': '' },
    } as const;
  }
}
