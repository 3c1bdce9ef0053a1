import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { Outcome } from '../../listeners/outcomes.ts';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { sendWrites, type UpdateStatement } from '../../platform/batching/write-loaders.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';
import { isTransientError } from '../../platform/transient-errors.ts';
import type { Vote } from '../../votes/vote.ts';
import { afterAttempt, DELIVERY_ENDED, NOT_COUNTED, type Taken } from './after-attempt.ts';
import type { RecordDeps } from './attempt-record.ts';

/** The outcome of an attempt, how long it took, and when it ended by this machine's clock. */
export type Ended = { taken: Taken; outcome: Outcome; durationMs: number; endedAt: number };

type PendingOutcome = { recording: RecordDeps; ended: Ended };

/**
 * Outcomes of all listeners that arrived during the last write, in one durable command; equal ones share one statement.
 * `true` for those that are recorded for certain: MongoDB does not say which of many did not match.
 */
const outcomes: BatchLoader<Collection<Vote>, PendingOutcome, boolean> = {
  most: 100,
  async load(votes, pending) {
    const { n } = await sendWrites(votes, { updates: statementsOf(pending) }, DURABLE);
    return pending.map(() => n === pending.length);
  },
};

/**
 * Records outcomes of attempts. Only the newest attempt of a vote that is being sent changes the state
 * of the vote. If a newer attempt has begun, or the delivery has already ended, the outcome is only written into its own
 * attempt. An attempt that was recorded as lost stays so, unless it was acknowledged: an acknowledgement always counts,
 * however late (design rule 4).
 *
 * @returns for each whether its outcome counts
 * @throws the driver's error when MongoDB fails
 */
export function recordOutcomes(
  recording: RecordDeps & { batcher: Batcher },
  ended: Ended[],
): Promise<boolean[]> {
  const record = async (one: Ended) =>
    (await recording.batcher.load(outcomes, recording.votes, { recording, ended: one })) ||
    recordAlone(recording, one);
  return Promise.all(ended.map(record));
}

/** How long an outcome is recorded again while MongoDB is unavailable, and while it refuses it. */
const RETRIED_FOR_MS = 30 * MINUTE;
const REFUSED_FOR_MS = MINUTE;

/**
 * `recordOutcomes` for one attempt, retried while MongoDB is unavailable: an outcome that is never recorded counts as
 * ambiguous, and the vote is sent once more.
 *
 * @param waitNoLonger - once aborted, there is only one more try
 * @throws the driver's error when MongoDB stays unavailable
 */
export async function recordWithRetries(
  recording: RecordDeps & { batcher: Batcher; log: Logger },
  ended: Ended,
  waitNoLonger: AbortSignal,
): Promise<boolean> {
  const longestAt = performance.now() + RETRIED_FOR_MS;
  let refusedAt = Number.POSITIVE_INFINITY;
  const record = async (tries: number) => {
    if (tries > 0) return recordAlone(recording, ended);
    const [counts = false] = await recordOutcomes(recording, [ended]);
    return counts;
  };
  return retry(record, {
    deadline: () => Math.min(longestAt, refusedAt + REFUSED_FOR_MS),
    signal: waitNoLonger,
    onError(error) {
      refusedAt = isTransientError(error) ? Number.POSITIVE_INFINITY : Math.min(refusedAt, performance.now());
      const voteId = ended.taken.vote._id.toString();
      const { code } = ended.outcome;
      recording.log.warn({ event: 'delivery.not_recorded', voteId, code, reason: String(error) });
    },
  });
}

/** One statement for each outcome, or for several outcomes with the same change. */
function statementsOf(pending: PendingOutcome[]): UpdateStatement[] {
  const now = pending[0]?.recording.clock.now() ?? new Date();
  const groups = Map.groupBy(pending, ({ ended }, index) => kindOf(ended) ?? index);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first
      ? [
          inPlace(
            first,
            now,
            group.map(({ ended }) => ended.taken.vote._id),
          ),
        ]
      : [];
  });
}

/** Equal for acknowledgements with the same change: taken together, with the same outcome and duration. */
function kindOf({ taken: { vote, attempt }, outcome, durationMs }: Ended): string | null {
  if (outcome.class !== 'delivered' || outcome.words || outcome.detail) return null;
  return `${attempt.id} ${vote.delivery.attempts.length} ${outcome.code} ${Math.round(durationMs)}`;
}

/**
 * The statement for votes whose attempt is still the newest one, at the same index as when it was taken, and without an
 * outcome. Plain paths cost MongoDB two thirds of `recordAlone`, which handles all other votes.
 */
function inPlace({ recording, ended }: PendingOutcome, now: Date, ids: Vote['_id'][]): UpdateStatement {
  const { vote, attempt } = ended.taken;
  const place = vote.delivery.attempts.length - 1;
  const path = `delivery.attempts.${place}`;
  const [only] = ids;
  return {
    q: {
      serverId: vote.serverId,
      _id: ids.length === 1 ? only : { $in: ids },
      'delivery.state': 'sending',
      [`${path}.id`]: attempt.id,
      [`${path}.code`]: { $exists: false },
      [`delivery.attempts.${place + 1}`]: { $exists: false },
    },
    u: changeOf(recording, ended, now, path),
    multi: ids.length > 1,
    hint: '_id_',
  };
}

/** The change of a vote by the outcome of its newest attempt; `path` is the attempt's own record. */
function changeOf(
  { config }: RecordDeps,
  { taken, outcome, durationMs }: Ended,
  now: Date,
  path?: string,
): UpdateFilter<Vote> {
  const { set, unset, inc = {} } = afterAttempt(taken, outcome, now, config.DELIVERY_SCHEDULE);
  return {
    $set: { ...set, ...describe(outcome, durationMs, path) },
    $unset: unset,
    $inc: { ...inc, ...count(outcome) },
  } as UpdateFilter<Vote>;
}

/** Records one outcome, wherever its attempt is now. Safe to run again. */
async function recordAlone(recording: RecordDeps, ended: Ended): Promise<boolean> {
  const { taken, outcome, durationMs } = ended;
  const now = recording.clock.now();
  const newest: Filter<Vote> = {
    ...withoutOutcome(taken),
    $expr: { $eq: [{ $last: '$delivery.attempts.id' }, taken.attempt.id] },
    'delivery.state': 'sending',
  };
  if (await change(recording, taken, newest, changeOf(recording, ended, now))) return true;
  if (await isRecorded(recording, taken, outcome)) return true;
  const uncounted = outcome.class === 'none' ? NOT_COUNTED : {};
  const only = { $set: describe(outcome, durationMs), $inc: { ...uncounted, ...count(outcome) } };
  if (await change(recording, taken, withoutOutcome(taken), only)) return true;
  return outcome.class === 'delivered' && recordLate(recording, ended, now);
}

/** Records the acknowledgement of an attempt that was considered lost. A newer attempt in progress is not stopped. */
async function recordLate(
  recording: RecordDeps,
  { taken, outcome, durationMs }: Ended,
  now: Date,
): Promise<boolean> {
  const { id, at } = taken.attempt;
  const lost = { 'delivery.attempts': { $elemMatch: { id, code: 'lease-ran-out' } } } as const;
  const described = { ...describe(outcome, durationMs), 'delivery.attempts.$[attempt].lateAt': now };
  const counted = {
    'delivery.ends.ambiguous': -1,
    'delivery.ends.delivered': 1,
    'delivery.codes.lease-ran-out': -1,
    [`delivery.codes.${outcome.code}`]: 1,
  };
  // A resend that was requested after the attempt began is not cancelled.
  const resentMeanwhile = { kind: 'resent', from: 'delivered', at: { $gte: at } } as const;
  const undelivered: Filter<Vote> = {
    ...lost,
    'delivery.state': { $ne: 'delivered' },
    'delivery.events': { $not: { $elemMatch: resentMeanwhile } },
  };
  const delivered = { 'delivery.state': 'delivered', 'delivery.deliveredAt': now } as const;
  return (
    (await change(recording, taken, undelivered, {
      $set: { ...delivered, ...described },
      $unset: DELIVERY_ENDED,
      $inc: counted,
    })) || (await change(recording, taken, lost, { $set: described, $inc: counted }))
  );
}

/** The attempt is on its vote and has no outcome. */
function withoutOutcome({ attempt: { id } }: Taken): Filter<Vote> {
  return { 'delivery.attempts': { $elemMatch: { id, code: { $exists: false } } } };
}

/** Increments the counts of its class and of its code. */
function count({ class: kind, code }: Outcome): Record<string, number> {
  return { [`delivery.ends.${kind}`]: 1, [`delivery.codes.${code}`]: 1 };
}

/** The outcome as fields of its attempt's record, at `path`. */
function describe(
  { code, class: kind, reached, words, detail }: Outcome,
  durationMs: number,
  path = 'delivery.attempts.$[attempt]',
): Record<string, unknown> {
  return {
    [`${path}.code`]: code,
    [`${path}.class`]: kind,
    // It is unknown how far a lost attempt got.
    ...(code === 'lease-ran-out' ? {} : { [`${path}.reached`]: reached }),
    [`${path}.durationMs`]: Math.round(durationMs),
    ...(words ? { [`${path}.words`]: words } : {}),
    ...(detail ? { [`${path}.detail`]: detail } : {}),
  };
}

/** Changes the vote of an attempt where it matches `where`. Returns whether it did. */
async function change(
  { votes }: RecordDeps,
  { vote: { serverId, _id }, attempt: { id } }: Taken,
  where: Filter<Vote>,
  update: UpdateFilter<Vote>,
): Promise<boolean> {
  const options = { arrayFilters: [{ 'attempt.id': id }], writeConcern: DURABLE };
  const { matchedCount } = await votes.updateOne({ ...where, serverId, _id }, update, options);
  return matchedCount === 1;
}

/** Whether an earlier write whose acknowledgement was lost has recorded this outcome. */
async function isRecorded(
  { votes }: RecordDeps,
  { vote: { serverId, _id }, attempt: { id } }: Taken,
  { code }: Outcome,
): Promise<boolean> {
  const attempts = { $elemMatch: { id, code } };
  return (await votes.countDocuments({ serverId, _id, 'delivery.attempts': attempts }, { limit: 1 })) === 1;
}
