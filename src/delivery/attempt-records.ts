import { type Collection, type Document, type Filter, type UpdateFilter, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { DURABLE } from '../mongo.ts';
import type { Attempt, Vote } from '../votes/vote.ts';
import { afterEnd, type Claimed, ENDED, NOT_COUNTED } from './after-end.ts';
import { type ClaimReason, causeOfAttempt } from './attempt-cause.ts';
import type { Listener } from './listener.ts';
import { withAttempt } from './older-attempts.ts';
import type { Outcome } from './outcomes.ts';
import { attemptLeaseMs, LAST_ANSWER_STEP, mostSendings } from './schedule.ts';

/** What recording works on. */
export type Recording = {
  votes: Collection<Vote>;
  clock: Clock;
  /** Who sends: stands in every attempt. */
  processId: string;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; DELIVERY_SCHEDULE: readonly number[] };
};

/** What a claim takes from the listener. */
export type Claiming = Pick<
  Listener,
  'serverId' | 'protocol' | 'revision' | 'breaker' | 'released' | 'lease' | 'answerStep' | 'maxSendings'
>;

/** The order in which votes go out: the listener's line. */
export const IN_LINE = { 'delivery.queuedAt': 1, _id: 1 } as const;

/**
 * The votes that may be sent now; with `test` whatever their own next time. None that was sent as often as the owner
 * allows: the number may have been lowered since (see `giveUpSentVotes`).
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
    'delivery.ambiguousEnds': { $lt: mostSendings(listener) },
    ...(test ? {} : { 'delivery.nextAt': { $lte: now } }),
  };
}

/** So each attempt is known before it is recorded: its claim can be looked for when the answer is lost. */
export function newAttemptId(): UUID {
  return new UUID(uuidv7());
}

/** An attempt that begins at `now`, and the update that records it on its vote. */
export function newAttempt(
  { processId, config }: Recording,
  listener: Claiming,
  reason: ClaimReason,
  now: Date,
  id: Attempt['id'],
): { attempt: Attempt; recorded: Document[] } {
  const { protocol, revision } = listener;
  const { test } = reason;
  const answerStep = listener.answerStep ?? 0;
  const maxSendings = mostSendings(listener);
  const attempt: Attempt = {
    id,
    at: now,
    worker: processId,
    protocol,
    revision,
    test,
    answerStep,
    maxSendings,
  };
  const recorded = [
    {
      $set: {
        'delivery.state': 'sending',
        'delivery.leaseUntil': { $add: ['$$NOW', leaseOfAttempt(config, answerStep)] },
        'delivery.attemptCount': { $add: ['$delivery.attemptCount', 1] },
        ...withAttempt({ $mergeObjects: [{ $literal: attempt }, causeOfAttempt(listener, reason)] }),
      },
    },
    { $unset: ['delivery.nextAt', 'delivery.dueBy'] },
  ];
  return { attempt, recorded };
}

/** An attempt's lease in milliseconds, as an aggregation expression on its vote: it outlasts the answer's deadline. */
function leaseOfAttempt(config: Recording['config'], answerStep: number): Document {
  const leases = Array.from({ length: LAST_ANSWER_STEP + 1 }, (_, step) => attemptLeaseMs(config, step));
  const step = { $min: [{ $max: ['$delivery.ambiguousEnds', answerStep] }, LAST_ANSWER_STEP] };
  return { $arrayElemAt: [leases, step] };
}

/**
 * Takes the next vote in a listener's line and records the attempt, in one durable operation, before anything
 * is sent (design rule 4).
 *
 * @param reason - `test`: the listener is unreachable and this vote tests it: the first in line goes, whatever
 *   its own next time
 * @returns null when no vote is due
 */
export async function claimNextVote(
  recording: Recording,
  listener: Claiming,
  reason: ClaimReason,
  attemptId = newAttemptId(),
): Promise<Claimed | null> {
  const now = recording.clock.now();
  const { attempt, recorded } = newAttempt(recording, listener, reason, now, attemptId);
  const vote = await recording.votes.findOneAndUpdate(dueVotes(listener, now, reason), recorded, {
    sort: IN_LINE,
    returnDocument: 'after',
    writeConcern: DURABLE,
  });
  return vote ? { vote, attempt } : null;
}

/** What the end of a vote's newest attempt changes on the vote; `attempt` is the path of the attempt's own record. */
function endChange(
  { clock, config }: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
  attempt?: string,
): UpdateFilter<Vote> {
  const { set, unset, inc = {} } = afterEnd(claimed, end, clock.now(), config.DELIVERY_SCHEDULE);
  return {
    $set: { ...set, ...describe(end, durationMs, attempt) },
    $unset: unset,
    $inc: { ...inc, ...count(end) },
  } as UpdateFilter<Vote>;
}

/** An end as one statement of many. */
export type EndInPlace = { q: Filter<Vote>; u: UpdateFilter<Vote> };

/**
 * Records an end where the attempt stands in the same place as when it was claimed, is the newest one there and has no
 * end yet: the plain paths cost MongoDB two thirds of what `recordEnd` does, which is for whatever does not match.
 */
export function endInPlace(
  recording: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
): EndInPlace {
  const { vote, attempt } = claimed;
  const place = vote.delivery.attempts.length - 1;
  const path = `delivery.attempts.${place}`;
  return {
    q: {
      serverId: vote.serverId,
      _id: vote._id,
      'delivery.state': 'sending',
      [`${path}.id`]: attempt.id,
      [`${path}.code`]: { $exists: false },
      [`delivery.attempts.${place + 1}`]: { $exists: false },
    },
    u: endChange(recording, claimed, end, durationMs, path),
  };
}

/** The attempt stands on its vote and has no end. */
function withoutEnd({ attempt: { id } }: Claimed): Filter<Vote> {
  return { 'delivery.attempts': { $elemMatch: { id, code: { $exists: false } } } };
}

/** One more end of its class and of its outcome. */
function count(end: Outcome): Record<string, number> {
  return { [`delivery.ends.${end.class}`]: 1, [`delivery.codes.${end.code}`]: 1 };
}

/**
 * Records how an attempt ended. Only the newest attempt of a vote that is being sent changes how the vote stands.
 * One that was overtaken, since an earlier attempt's acknowledgement came late, is described and no more. One that
 * was given up as lost stays so, unless it was acknowledged: that is good news, however late (design rule 4).
 *
 * @returns whether this end stands
 */
export async function recordEnd(
  recording: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
): Promise<boolean> {
  const newest: Filter<Vote> = {
    ...withoutEnd(claimed),
    $expr: { $eq: [{ $last: '$delivery.attempts.id' }, claimed.attempt.id] },
    'delivery.state': 'sending',
  };
  if (await change(recording, claimed, newest, endChange(recording, claimed, end, durationMs))) return true;
  if (await isRecorded(recording, claimed, end)) return true;
  const uncounted = end.class === 'none' ? NOT_COUNTED : {};
  const only = { $set: describe(end, durationMs), $inc: { ...uncounted, ...count(end) } };
  if (await change(recording, claimed, withoutEnd(claimed), only)) return true;
  return end.class === 'delivered' && recordLate(recording, claimed, end, durationMs);
}

/** An acknowledgement of an attempt that had been given up as lost. Whatever is under way then ends for itself. */
async function recordLate(
  recording: Recording,
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
): Promise<boolean> {
  const now = recording.clock.now();
  const { id, at } = claimed.attempt;
  const lost = { 'delivery.attempts': { $elemMatch: { id, code: 'lease-ran-out' } } } as const;
  const described = { ...describe(end, durationMs), 'delivery.attempts.$[attempt].lateAt': now };
  const counted = {
    'delivery.ends.ambiguous': -1,
    'delivery.ends.delivered': 1,
    'delivery.codes.lease-ran-out': -1,
    [`delivery.codes.${end.code}`]: 1,
  };
  // Somebody wants it once more though it was delivered: that is not called off.
  const wantedAgain = { kind: 'resent', from: 'delivered', at: { $gte: at } } as const;
  const undelivered: Filter<Vote> = {
    ...lost,
    'delivery.state': { $ne: 'delivered' },
    'delivery.events': { $not: { $elemMatch: wantedAgain } },
  };
  const delivered = { 'delivery.state': 'delivered', 'delivery.deliveredAt': now } as const;
  return (
    (await change(recording, claimed, undelivered, {
      $set: { ...delivered, ...described },
      $unset: ENDED,
      $inc: counted,
    })) || (await change(recording, claimed, lost, { $set: described, $inc: counted }))
  );
}

/** The end of an attempt in its own record, at `path`. */
function describe(
  end: Outcome,
  durationMs: number,
  path = 'delivery.attempts.$[attempt]',
): Record<string, unknown> {
  return {
    [`${path}.code`]: end.code,
    [`${path}.class`]: end.class,
    // Nobody knows how far a lost attempt got.
    ...(end.code === 'lease-ran-out' ? {} : { [`${path}.reached`]: end.reached }),
    [`${path}.durationMs`]: Math.round(durationMs),
    ...(end.words ? { [`${path}.words`]: end.words } : {}),
    ...(end.detail ? { [`${path}.detail`]: end.detail } : {}),
  };
}

/** Changes the vote of an attempt where it is as `where` says. Returns whether it was. */
async function change(
  { votes }: Recording,
  { vote: { serverId, _id }, attempt: { id } }: Claimed,
  where: Filter<Vote>,
  update: UpdateFilter<Vote>,
): Promise<boolean> {
  const options = { arrayFilters: [{ 'attempt.id': id }], writeConcern: DURABLE };
  const { matchedCount } = await votes.updateOne({ ...where, serverId, _id }, update, options);
  return matchedCount === 1;
}

/** Whether an earlier try whose acknowledgement was lost has recorded this end. */
async function isRecorded(
  { votes }: Recording,
  { vote: { serverId, _id }, attempt: { id } }: Claimed,
  { code }: Outcome,
): Promise<boolean> {
  const attempts = { $elemMatch: { id, code } };
  return (await votes.countDocuments({ serverId, _id, 'delivery.attempts': attempts }, { limit: 1 })) === 1;
}
