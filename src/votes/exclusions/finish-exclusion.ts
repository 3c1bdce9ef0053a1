import { setTimeout as pause } from 'node:timers/promises';
import type { Document, ObjectId, UUID } from 'mongodb';
import { QUEUE_FIELDS, wakeListener } from '../../listeners/delivery-queues.ts';
import { rewardsOf } from '../../listeners/listener.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { type ActiveLease, withLease } from '../../platform/periods/work-lease.ts';
import type { Progress } from '../../platform/progress.ts';
import { requestRanks } from '../../servers/request-ranks.ts';
import { CLOCKS_DIFFER_MS, VOTE_SETTLED_MS } from '../cast/insert-vote.ts';
import type { VotesDeps } from '../deps.ts';
import { recountVotes } from '../recount-votes.ts';
import { EXCLUDED_VOTES, queued } from '../vote.ts';
import { holdLaterVotes } from './quarantine.ts';
import { auditDecisions } from './request-exclusion.ts';
import { inProgress, type VoteExclusion } from './vote-exclusion.ts';

export type FinishOptions = {
  progress?: Progress;
  signal?: AbortSignal;
  /** A vote may be inserted this long after its `votedAt`. */
  settledMs?: number;
  /** Called before votes of one batch change; after an interrupted run perhaps again for the same votes. */
  beforeChange?: ((change: CountChange) => Promise<void>) | undefined;
};

/** Votes that counted and will not, or that will count and did not. */
export type CountChange = Pick<VoteExclusion, 'serverId'> & {
  exclusionId: ObjectId;
  becomes: 'excluded' | 'counted';
  /** The votes of a quarantine never counted before. */
  wereHeld: boolean;
  votes: Pick<VoteInRange, '_id' | 'votedAt'>[];
};

const BULK = 1_000;

/**
 * Finishes an exclusion, or its undoing if that was requested. After an interrupted run every step can be repeated: the
 * audit log is written first, the new state last. Null when no exclusion has this id. Throws as `withLease`.
 */
export async function finishExclusion(
  deps: VotesDeps,
  exclusionId: ObjectId,
  options: FinishOptions = {},
): Promise<VoteExclusion | null> {
  const found = await deps.voteExclusions.findOne({ _id: exclusionId });
  if (!found) return null;
  const { signal } = options;
  // One lease for a server, because two exclusions may change the same votes and days.
  return withLease(
    deps,
    `vote-exclusions:${found.serverId.toHexString()}`,
    async (lease) => {
      const exclusion = await deps.voteExclusions.findOne({ _id: exclusionId });
      return exclusion && finishUnderLease(deps, exclusion, lease, options);
    },
    signal ? { signal } : {},
  );
}

async function finishUnderLease(
  deps: VotesDeps,
  exclusion: VoteExclusion,
  lease: ActiveLease,
  options: FinishOptions,
): Promise<VoteExclusion> {
  const { _id, state } = exclusion;
  const work = inProgress(exclusion);
  if (!work) return exclusion;
  await auditDecisions(deps, exclusion);

  await untilSettled(deps, exclusion, lease, options);
  await holdLaterVotes(deps, exclusion, lease);
  // Held votes are already marked as excluded.
  if (work === 'excluding' && !exclusion.isQuarantine) await markVotes(deps, exclusion, lease, options);
  if (work === 'including') {
    // If no run has excluded these votes, their number is not stored yet.
    if (exclusion.votes === null) await noteVotes(deps, exclusion);
    await unmarkVotes(deps, exclusion, lease, options);
  }

  const { days, votes = null } = (await deps.voteExclusions.findOne({ _id })) ?? exclusion;
  lease.throwIfLost();
  await recountVotes(deps, exclusion.serverId, days.toSorted(), { signal: lease.signal });

  lease.throwIfLost();
  const finished =
    work === 'excluding'
      ? ({ state: 'excluded', votes: await countExcluded(deps, exclusion) } as const)
      : ({ state: 'included' } as const);
  // If the exclusion was undone meanwhile, its state differs, and another run finishes the undoing.
  await deps.voteExclusions.updateOne({ _id, state }, { $set: finished });
  await requestRanks(deps.producer);
  return { ...exclusion, days, votes, ...finished };
}

function castInRange({ serverId, since, until }: VoteExclusion) {
  return { serverId, votedAt: { $gte: since, $lt: until } };
}

/** The sort makes MongoDB choose the index for the filter. */
function votesToMark(exclusion: VoteExclusion) {
  const range = castInRange(exclusion);
  const { usernameKey } = exclusion;
  return usernameKey
    ? { range: { ...range, usernameKey }, sort: { seq: 1 } as const }
    : { range, sort: { votedAt: 1 } as const };
}

/** Held votes are found by the exclusion's id without `until`: some were being cast during the decision. */
function excludedInRange(exclusion: VoteExclusion) {
  const { serverId, since, isQuarantine, _id } = exclusion;
  const excluded = { excludedAt: { $gt: new Date(0) } };
  if (isQuarantine) return { serverId, votedAt: { $gte: since }, ...excluded, excludedBy: _id };
  return { ...castInRange(exclusion), ...excluded };
}

function countExcluded({ votes }: VotesDeps, exclusion: VoteExclusion): Promise<number> {
  const under = { ...excludedInRange(exclusion), excludedBy: exclusion._id };
  return votes.countDocuments(under, { hint: EXCLUDED_VOTES });
}

async function noteVotes(deps: VotesDeps, exclusion: VoteExclusion): Promise<void> {
  const votes = await countExcluded(deps, exclusion);
  await deps.voteExclusions.updateOne({ _id: exclusion._id, votes: null }, { $set: { votes } });
}

async function untilSettled(
  { clock }: VotesDeps,
  { until }: VoteExclusion,
  { signal }: ActiveLease,
  { settledMs = VOTE_SETTLED_MS }: FinishOptions,
): Promise<void> {
  const settledIn = until.getTime() + settledMs + CLOCKS_DIFFER_MS - clock.now().getTime();
  if (settledIn > 0) await pause(settledIn, undefined, { signal });
}

async function markVotes(
  deps: VotesDeps,
  exclusion: VoteExclusion,
  lease: ActiveLease,
  { progress, beforeChange }: FinishOptions,
): Promise<void> {
  const { tokenId, _id } = exclusion;
  const { votes } = deps;
  const { range, sort } = votesToMark(exclusion);
  const total = await votes.countDocuments(range);
  // Not by token: if it cast few votes, the first batch would take very long.
  const all = votes.find(range, {
    sort,
    projection: { votedAt: 1, tokenId: 1, excludedBy: 1 },
    batchSize: BULK,
  });
  await inBulk(deps, exclusion, lease, {
    all,
    chosen: (vote) =>
      (!tokenId || tokenId.equals(vote.tokenId ?? '')) && !vote.excludedBy?.some((by) => by.equals(_id)),
    update: [
      {
        $set: {
          excludedBy: { $setUnion: [{ $ifNull: ['$excludedBy', []] }, [_id]] },
          excludedAt: { $ifNull: ['$excludedAt', '$$NOW'] },
        },
      },
    ],
    before: (votes) =>
      change(
        beforeChange,
        exclusion,
        'excluded',
        votes.filter((vote) => !vote.excludedBy?.length),
      ),
    onProgress: (count) => progress?.(count, total),
  });
}

async function unmarkVotes(
  deps: VotesDeps,
  exclusion: VoteExclusion,
  lease: ActiveLease,
  { progress, beforeChange }: FinishOptions,
): Promise<void> {
  const { _id, serverId } = exclusion;
  const { votes } = deps;
  const range = excludedInRange(exclusion);
  const total = await votes.countDocuments(range, { hint: EXCLUDED_VOTES });
  const all = votes.find(range, {
    hint: EXCLUDED_VOTES,
    projection: { votedAt: 1, excludedBy: 1 },
    batchSize: BULK,
  });
  const found = await deps.listeners.findOne(
    { serverId },
    { projection: { serverId: 1, rewards: 1, ...QUEUE_FIELDS } },
  );
  const listener = rewardsOf(found) === 'claims' ? null : found;
  await inBulk(deps, exclusion, lease, {
    all,
    chosen: (vote) => vote.excludedBy?.some((by) => by.equals(_id)) === true,
    update: including(_id, deps.clock.now(), listener !== null),
    before: (votes) =>
      change(
        beforeChange,
        exclusion,
        'counted',
        votes.filter((vote) => vote.excludedBy?.length === 1),
      ),
    onProgress: (count) => progress?.(count, total),
  });
  if (listener) await wakeListener(deps.producer, listener);
}

/** A vote from a restored backup becomes `unconfirmed`: it may have been delivered after the backup. */
function released(now: Date): Document {
  return {
    $cond: [{ $gt: ['$delivery.restoredAt', null] }, { state: 'unconfirmed' }, queued(now, 'release')],
  };
}

/** If no other exclusion covers a held vote, it leaves its quarantine, and is queued if the listener gets votes. */
function including(exclusionId: ObjectId, now: Date, hasListener: boolean): Document[] {
  const isCounted = { $eq: ['$excludedBy', []] };
  const isReleased = { $and: [isCounted, { $gt: ['$quarantinedAt', null] }] };
  const isQueued = { $and: [isReleased, hasListener] };
  return [
    { $set: { excludedBy: { $setDifference: [{ $ifNull: ['$excludedBy', []] }, [exclusionId]] } } },
    {
      $set: {
        released: { $cond: [isReleased, [{ at: now, kind: 'released' }], []] },
        delivery: { $cond: [isQueued, { $mergeObjects: ['$delivery', released(now)] }, '$delivery'] },
        excludedAt: { $cond: [isCounted, '$$REMOVE', '$excludedAt'] },
        quarantinedAt: { $cond: [isReleased, '$$REMOVE', '$quarantinedAt'] },
        excludedBy: { $cond: [isCounted, '$$REMOVE', '$excludedBy'] },
      },
    },
    { $set: { 'delivery.events': { $concatArrays: ['$delivery.events', '$released'] } } },
    { $unset: 'released' },
  ];
}

type VoteInRange = { _id: UUID; votedAt: Date; tokenId?: ObjectId | null; excludedBy?: ObjectId[] };

async function change(
  beforeChange: FinishOptions['beforeChange'],
  { serverId, _id: exclusionId, isQuarantine }: VoteExclusion,
  becomes: CountChange['becomes'],
  votes: VoteInRange[],
): Promise<void> {
  const wereHeld = isQuarantine === true;
  if (votes.length > 0) await beforeChange?.({ serverId, exclusionId, becomes, wereHeld, votes });
}

type Bulk = {
  all: AsyncIterable<VoteInRange>;
  chosen: (vote: VoteInRange) => boolean;
  before: (votes: VoteInRange[]) => Promise<void>;
  update: Document[];
  onProgress: (count: number) => void;
};

/** The UTC days are stored first, so that each of them is recounted even after a crash. */
async function inBulk(
  { votes, voteExclusions }: VotesDeps,
  { _id, serverId }: VoteExclusion,
  lease: ActiveLease,
  { all, chosen, before, update, onProgress }: Bulk,
): Promise<void> {
  let batch: VoteInRange[] = [];
  const write = async () => {
    if (batch.length === 0) return;
    const days = [...new Set(batch.map(({ votedAt }) => dayOf(votedAt)))];
    lease.throwIfLost();
    await voteExclusions.updateOne({ _id }, { $addToSet: { days: { $each: days } } });
    await before(batch);
    lease.throwIfLost();
    await votes.updateMany({ serverId, _id: { $in: batch.map((vote) => vote._id) } }, update);
    batch = [];
  };
  let count = 0;
  for await (const vote of all) {
    count += 1;
    if (chosen(vote)) batch.push(vote);
    if (batch.length === BULK) await write();
    if (count % BULK === 0) onProgress(count);
  }
  await write();
  onProgress(count);
}
