import { type Collection, type Document, type Filter, type ObjectId, type UpdateFilter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { after, type Clock, SECOND } from '../clock.ts';
import { DURABLE } from '../mongo.ts';
import { ATTEMPTS_KEPT, type Attempt, type Vote } from '../votes/vote.ts';
import type { Listener } from './listener.ts';
import { type Outcome, outcome } from './outcomes.ts';
import { delayAt, MOST_AMBIGUOUS_ENDS } from './schedule.ts';

/** What recording works on. */
export type Recording = {
  votes: Collection<Vote>;
  clock: Clock;
  /** Who sends: stands in every attempt. */
  processId: string;
  config: { LEASE_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** A vote whose attempt is recorded and may now be made. */
export type Claimed = { vote: Vote; attempt: Attempt };

/** What a claim takes from the listener. */
export type Claiming = Pick<Listener, 'serverId' | 'protocol' | 'revision'>;

/** The order in which votes go out: the listener's line. */
export const IN_LINE = { 'delivery.queuedAt': 1, _id: 1 } as const;

/** The votes that may be sent now; with `test` whatever their own next time. */
export function dueVotes(serverId: ObjectId, now: Date, { test }: { test: boolean }): Filter<Vote> {
  return {
    serverId,
    'delivery.queuedAt': { $exists: true },
    'delivery.state': 'waiting',
    'delivery.expiresAt': { $gt: now },
    ...(test ? {} : { 'delivery.nextAt': { $lte: now } }),
  };
}

/** An attempt that begins now, and the update that records it on its vote. */
export function newAttempt(
  { processId, config }: Recording,
  { protocol, revision }: Claiming,
  { test, now }: { test: boolean; now: Date },
): { attempt: Attempt; recorded: Document[] } {
  const attempt: Attempt = { id: new UUID(uuidv7()), at: now, worker: processId, protocol, revision, test };
  const recorded = [
    {
      $set: {
        'delivery.state': 'sending',
        'delivery.leaseUntil': { $add: ['$$NOW', config.LEASE_MS] },
        'delivery.attemptCount': { $add: ['$delivery.attemptCount', 1] },
        'delivery.attempts': {
          $slice: [{ $concatArrays: ['$delivery.attempts', [{ $literal: attempt }]] }, -ATTEMPTS_KEPT],
        },
      },
    },
    { $unset: 'delivery.nextAt' },
  ];
  return { attempt, recorded };
}

/**
 * Takes the next vote in a listener's line and records the attempt, in one durable operation, before anything
 * is sent (design rule 4).
 *
 * @param test - the listener is unreachable and this vote tests it: the first in line goes, whatever its own
 *   next time
 * @returns null when no vote is due
 */
export async function claimNextVote(
  recording: Recording,
  listener: Claiming,
  { test }: { test: boolean },
): Promise<Claimed | null> {
  const now = recording.clock.now();
  const { attempt, recorded } = newAttempt(recording, listener, { test, now });
  const vote = await recording.votes.findOneAndUpdate(dueVotes(listener.serverId, now, { test }), recorded, {
    sort: IN_LINE,
    returnDocument: 'after',
    writeConcern: DURABLE,
  });
  return vote ? { vote, attempt } : null;
}

/** A vote that met a fault of configuration is not due again before the pause is written. */
const PAUSE_IS_COMING_MS = 5 * SECOND;

/** What a vote that is out of the line has no more. */
export const ENDED = {
  'delivery.queuedAt': '',
  'delivery.expiresAt': '',
  'delivery.leaseUntil': '',
  'delivery.nextAt': '',
} as const;

/** Whether the attempt before the newest one was refused its challenge too: it is retried at once only once. */
function challengeRefusedBefore(vote: Vote): boolean {
  return vote.delivery.attempts.at(-2)?.code === 'challenge-refused';
}

/**
 * What an end makes of the vote, as an update. The schedule's step is used up by every counted failure but a
 * test's; a vote that failed a test goes behind the others.
 */
function afterEnd({ vote, attempt }: Claimed, end: Outcome, now: Date, schedule: readonly number[]) {
  const { step, ambiguousEnds, ends } = vote.delivery;
  switch (end.class) {
    case 'delivered':
      return { set: { 'delivery.state': 'delivered', 'delivery.deliveredAt': now }, unset: ENDED };
    case 'vote-only':
      return { set: { 'delivery.state': 'failed' }, unset: ENDED };
    case 'ambiguous':
      if (ambiguousEnds + 1 >= MOST_AMBIGUOUS_ENDS) {
        return {
          set: { 'delivery.state': 'unconfirmed' },
          unset: ENDED,
          inc: { 'delivery.ambiguousEnds': 1 },
        };
      }
      return { ...waitAgain(), inc: { 'delivery.ambiguousEnds': 1, ...usedStep() } };
    case 'transient':
      if (end.code === 'challenge-refused' && !challengeRefusedBefore(vote)) return waitAgain(now);
      return { ...waitAgain(), inc: usedStep() };
    case 'configuration':
      // Not at once: the pause that follows from it is written a moment later.
      return waitAgain(after(now, PAUSE_IS_COMING_MS));
    case 'none':
      return {
        // Uses up no step, but a fault of ours that stays must not be tried every few seconds for three days.
        ...waitAgain(end.code === 'our-fault' ? after(now, delayAt(schedule, 1 + (ends.none ?? 0))) : now),
        inc: { 'delivery.attemptCount': -1 },
      };
  }

  function usedStep() {
    return attempt.test ? {} : { 'delivery.step': 1 };
  }

  /** By its schedule; later where the listener asked for that. */
  function nextTurn(): Date {
    const delay = attempt.test ? 0 : delayAt(schedule, step + 1);
    return after(now, Math.max(delay, end.retryAfterMs ?? 0));
  }

  function waitAgain(nextAt = nextTurn()) {
    return {
      set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': nextAt,
        ...(attempt.test && end.code !== 'stopped-before-written' ? { 'delivery.queuedAt': now } : {}),
      },
      unset: { 'delivery.leaseUntil': '' },
    } as const;
  }
}

/** What the end of an attempt changes on its vote, while the attempt has no end yet. */
export function endChange(
  { clock, config }: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
): { filter: Filter<Vote>; update: UpdateFilter<Vote>; arrayFilters: Document[] } {
  const {
    set,
    unset,
    inc = {},
  } = afterEnd(claimed, end, clock.now(), config.DELIVERY_SCHEDULE) as {
    set: Record<string, unknown>;
    unset: Record<string, ''>;
    inc?: Record<string, number>;
  };
  const { serverId, _id } = claimed.vote;
  const { id } = claimed.attempt;
  const described = {
    'delivery.attempts.$[attempt].code': end.code,
    'delivery.attempts.$[attempt].class': end.class,
    // Nobody knows how far a lost attempt got.
    ...(end.code === 'lease-ran-out' ? {} : { 'delivery.attempts.$[attempt].reached': end.reached }),
    'delivery.attempts.$[attempt].durationMs': Math.round(durationMs),
    ...(end.words ? { 'delivery.attempts.$[attempt].words': end.words } : {}),
  };
  return {
    filter: {
      serverId,
      _id,
      'delivery.state': 'sending',
      'delivery.attempts': { $elemMatch: { id, code: { $exists: false } } },
    },
    update: {
      $set: { ...set, ...described },
      $unset: unset,
      $inc: { ...inc, [`delivery.ends.${end.class}`]: 1 },
    } as UpdateFilter<Vote>,
    arrayFilters: [{ 'attempt.id': id }],
  };
}

/**
 * Records how an attempt ended. An end that comes after the lease ran out changes nothing, since that was
 * recorded as an ambiguous end; but an acknowledgement is good news, unless the vote is being sent again by then.
 *
 * @returns whether this end stands
 */
export async function recordEnd(
  recording: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
): Promise<boolean> {
  const { votes } = recording;
  const { serverId, _id } = claimed.vote;
  const { id } = claimed.attempt;
  const { filter, update, arrayFilters } = endChange(recording, claimed, end, durationMs);
  const options = { arrayFilters, writeConcern: DURABLE };
  const recorded = await votes.updateOne(filter, update, options);
  if (recorded.matchedCount === 1) return true;
  // An earlier try whose acknowledgement was lost may have recorded it.
  const attempts = { $elemMatch: { id, code: end.code } };
  if ((await votes.countDocuments({ serverId, _id, 'delivery.attempts': attempts }, { limit: 1 })) === 1)
    return true;
  if (end.class !== 'delivered') return false;

  const late = await votes.updateOne(
    {
      serverId,
      _id,
      'delivery.state': { $in: ['none', 'waiting', 'unconfirmed', 'failed'] },
      'delivery.attempts': { $elemMatch: { id, class: 'ambiguous' } },
    },
    {
      ...update,
      $inc: { 'delivery.ends.ambiguous': -1, 'delivery.ends.delivered': 1 },
    },
    options,
  );
  return late.matchedCount === 1;
}

/**
 * Ends attempts whose lease ran out: the worker died or was cut off, and the vote may have arrived. Leases go
 * by mongod's clock.
 *
 * @returns the attempts ended, for the breaker
 */
export async function endLostAttempts(recording: Recording, serverId: ObjectId): Promise<Claimed[]> {
  const { votes } = recording;
  const lost = await votes
    .find({
      serverId,
      'delivery.queuedAt': { $exists: true },
      'delivery.state': 'sending',
      $expr: { $lt: ['$delivery.leaseUntil', '$$NOW'] },
    })
    .sort({ 'delivery.queuedAt': 1 })
    .limit(1_000)
    .toArray();
  const ended: Claimed[] = [];
  for (const vote of lost) {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt) continue;
    const claimed = { vote, attempt };
    if (await recordEnd(recording, claimed, outcome('lease-ran-out', 'none'), recording.config.LEASE_MS))
      ended.push(claimed);
  }
  return ended;
}
