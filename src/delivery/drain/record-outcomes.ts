import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { Outcome } from '../../listeners/outcomes.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { sendWrites, type UpdateStatement } from '../../platform/batching/write-loaders.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';
import { isTransientError } from '../../platform/transient-errors.ts';
import type { Vote } from '../../votes/vote.ts';
import { afterAttempt, DELIVERY_ENDED, NOT_COUNTED } from './after-attempt.ts';
import type { RecordDeps, Taken } from './attempt-record.ts';

/** `endedAt`: by this machine's clock. */
export type Ended = { taken: Taken; outcome: Outcome; durationMs: number; endedAt: number };

/** If this machine's clock is behind, the attempt ends when it began: no duration is negative. */
export function endedAt(taken: Taken, outcome: Outcome, now: Date): Ended {
  const begunAt = taken.attempt.at.getTime();
  const endedAt = Math.max(now.getTime(), begunAt);
  return { taken, outcome, durationMs: endedAt - begunAt, endedAt };
}

type PendingOutcome = { recording: RecordDeps; ended: Ended };

/** One durable command. MongoDB reports only how many votes matched: if one did not, every answer is `false`. */
const outcomes: BatchLoader<Collection<Vote>, PendingOutcome, boolean> = {
  most: 100,
  async load(votes, pending) {
    const { n } = await sendWrites(votes, { updates: statementsOf(pending) }, DURABLE);
    return pending.map(() => n === pending.length);
  },
};

/**
 * If an attempt is not the newest one of its vote, or the vote is no longer being sent, the vote's state stays. For one
 * that was recorded as lost, only a delivery is recorded, however late (docs/adr/0054-late-acknowledgements.md). False
 * for each outcome where an earlier one stays, or the attempt is no longer stored.
 */
export function recordOutcomes(recording: RecordDeps, ended: Ended[]): Promise<boolean[]> {
  const record = async (one: Ended) =>
    (await recording.batcher.load(outcomes, recording.votes, { recording, ended: one })) ||
    recordAlone(recording, one);
  return Promise.all(ended.map(record));
}

/** If MongoDB is unavailable, an outcome is written again for so long. */
const RETRIED_FOR_MS = 30 * MINUTE;
/** If MongoDB answers but refuses the write, it is written again for so long. */
const REFUSED_FOR_MS = MINUTE;

/**
 * If an outcome were never recorded, the attempt would count as ambiguous and the vote could be sent once more. Once
 * `waitNoLonger` is aborted, there is only one more try.
 */
export async function recordWithRetries(
  recording: RecordDeps & { log: Logger },
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

/** Deliveries with the same change share a statement. */
function statementsOf(pending: PendingOutcome[]): UpdateStatement[] {
  const now = pending[0]?.recording.clock.now() ?? new Date();
  const groups = Map.groupBy(pending, ({ ended }, index) => kindOf(ended) ?? index);
  return [...groups.values()].map((group) => inPlace(group, now));
}

/** Equal for deliveries with the same change; null for a statement of its own. */
function kindOf({ taken: { vote }, outcome, durationMs }: Ended): string | null {
  if (outcome.class !== 'delivered' || outcome.words || outcome.detail) return null;
  return `${vote.delivery.attempts.length} ${outcome.code} ${outcome.reached} ${Math.round(durationMs)}`;
}

/**
 * The usual case: each attempt has no outcome, is its vote's newest, and is stored at the index at which it was
 * recorded. Naming this index takes MongoDB two thirds of the time of `recordAlone`, which handles the other cases.
 */
function inPlace(group: PendingOutcome[], now: Date): UpdateStatement {
  const [{ recording, ended }] = group as [PendingOutcome];
  const place = ended.taken.vote.delivery.attempts.length - 1;
  const path = `delivery.attempts.${place}`;
  const taken = group.map((one) => one.ended.taken);
  return {
    q: {
      serverId: anyOf(taken.map(({ vote }) => vote.serverId)),
      _id: anyOf(taken.map(({ vote }) => vote._id)),
      'delivery.state': 'sending',
      // Votes that were taken together have the same attempt id.
      [`${path}.id`]: anyOf(taken.map(({ attempt }) => attempt.id)),
      [`${path}.code`]: { $exists: false },
      [`delivery.attempts.${place + 1}`]: { $exists: false },
    },
    u: changeOf(recording, ended, now, path),
    multi: group.length > 1,
    hint: '_id_',
  };
}

/** `path`: the attempt's in the vote. */
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

/** Wherever the attempt is stored by now. Safe to run again. */
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

/** For an attempt that was recorded as lost (`lease-ran-out`). A newer attempt that is running goes on. */
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
  // A vote that somebody resent after the attempt began stays in the queue.
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

function withoutOutcome({ attempt: { id } }: Taken): Filter<Vote> {
  return { 'delivery.attempts': { $elemMatch: { id, code: { $exists: false } } } };
}

/** Counts an outcome by class and by code. */
function count({ class: kind, code }: Outcome): Record<string, number> {
  return { [`delivery.ends.${kind}`]: 1, [`delivery.codes.${code}`]: 1 };
}

function describe(
  { code, class: kind, reached, words, detail }: Outcome,
  durationMs: number,
  path = 'delivery.attempts.$[attempt]',
): Record<string, unknown> {
  return {
    [`${path}.code`]: code,
    [`${path}.class`]: kind,
    // How far a lost attempt got is unknown.
    ...(code === 'lease-ran-out' ? {} : { [`${path}.reached`]: reached }),
    [`${path}.durationMs`]: Math.round(durationMs),
    ...(words ? { [`${path}.words`]: words } : {}),
    ...(detail ? { [`${path}.detail`]: detail } : {}),
  };
}

/** False if the vote does not match `where`. */
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

/** MongoDB's answer to an earlier write may have been lost. */
async function isRecorded(
  { votes }: RecordDeps,
  { vote: { serverId, _id }, attempt: { id } }: Taken,
  { code }: Outcome,
): Promise<boolean> {
  const attempts = { $elemMatch: { id, code } };
  return (await votes.countDocuments({ serverId, _id, 'delivery.attempts': attempts }, { limit: 1 })) === 1;
}
