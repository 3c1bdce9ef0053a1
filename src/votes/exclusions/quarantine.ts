import { ObjectId, type UUID } from 'mongodb';
import { after, MINUTE } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import { DURABLE, isDuplicateKey, MAJORITY, OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import type { ActiveLease } from '../../platform/periods/work-lease.ts';
import type { Block } from '../blocks/block-list.ts';
import { blockOrigin } from '../blocks/change-blocks.ts';
import { QUARANTINE_READ_MS } from '../cast/insert-vote.ts';
import type { VotesDeps } from '../deps.ts';
import { EXCLUDED_VOTES, type Vote } from '../vote.ts';
import { auditAndWake, type ExclusionReasons, reasonsSchema } from './request-exclusion.ts';
import { AUTOMATIC, type QuarantineCause, type VoteExclusion } from './vote-exclusion.ts';

/** Unique indexes allow only one exclusion with the same values. */
type Holding =
  | { serverId: ObjectId; state: 'quarantined'; origin: string | null }
  | { serverId: ObjectId; blockId: ObjectId; state: 'excluded' };

/** Finds or creates the open exclusion that holds new votes of a server: neither counted nor delivered. */
export async function openHoldingExclusion(
  { voteExclusions, clock }: VotesDeps,
  open: Holding,
  about: Pick<VoteExclusion, 'reason' | 'username' | 'usernameKey' | 'cause'>,
): Promise<ObjectId> {
  const now = clock.now();
  const { origin, ...place } = { origin: null, ...open };
  const opened: VoteExclusion = {
    ...about,
    ...place,
    ...(origin === null ? {} : { origin }),
    _id: new ObjectId(),
    // The clock of another process may be behind: its votes have an earlier `votedAt`.
    since: after(now, -MINUTE),
    until: now,
    tokenId: null,
    by: AUTOMATIC,
    at: now,
    undone: null,
    isQuarantine: true,
    days: [],
    votes: null,
  };
  const deadline = performance.now() + OPERATION_TIMEOUT_MS;
  for (;;) {
    const found = await voteExclusions.findOne(open, { projection: { _id: 1 }, ...MAJORITY });
    if (found) return found._id;
    try {
      await voteExclusions.insertOne(opened, { writeConcern: DURABLE });
      return opened._id;
    } catch (error) {
      // Created at the same moment: a later read finds it, once it is on a majority.
      if (!isDuplicateKey(error) || performance.now() >= deadline) throw error;
    }
  }
}

/** Votes of further origins enter the quarantine without an origin. */
const MOST_ORIGINS = 20;

/** See `Suspicion`. */
type HeldFor = { cause?: QuarantineCause; origin?: string };

const WITHOUT_ORIGIN: HeldFor = { cause: 'new-players' };

/** For votes of one origin. `reason`: why the first one looks unusual. */
export async function openQuarantine(
  deps: VotesDeps,
  serverId: ObjectId,
  reason: string,
  heldFor: HeldFor = {},
): Promise<ObjectId> {
  const { cause, origin } = (await hasPlace(deps, serverId, heldFor)) ? heldFor : WITHOUT_ORIGIN;
  const open = { serverId, state: 'quarantined', origin: origin ?? null } as const;
  return openHoldingExclusion(deps, open, { reason, ...(cause ? { cause } : {}) });
}

async function hasPlace({ voteExclusions }: VotesDeps, serverId: ObjectId, { origin }: HeldFor) {
  if (origin === undefined) return true;
  const open = await voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { origin: 1 } })
    .limit(MOST_ORIGINS + 1)
    .toArray();
  return open.length < MOST_ORIGINS || open.some((one) => one.origin === origin);
}

/** Undefined if the player's name is blocked, or an older version held the vote. */
export async function causeOf(
  { voteExclusions }: VotesDeps,
  { excludedBy = [] }: Pick<Vote, 'excludedBy'>,
): Promise<QuarantineCause | undefined> {
  const quarantine = await voteExclusions.findOne(
    { _id: { $in: excludedBy }, isQuarantine: true },
    { projection: { cause: 1 } },
  );
  return quarantine?.cause ?? undefined;
}

/**
 * Stores an operator's decision that the votes of an open quarantine stay excluded; null when no such one is open.
 * Votes that are cast after it enter a new quarantine.
 */
export async function requestQuarantineExclusion(
  deps: VotesDeps,
  quarantineId: ObjectId,
  reasons: ExclusionReasons,
  by: string,
): Promise<VoteExclusion | null> {
  const { reason, reasonForOwner } = parseInput(reasonsSchema, reasons);
  const now = deps.clock.now();
  const decided = {
    state: 'confirming',
    reason,
    ...(reasonForOwner ? { reasonForOwner } : {}),
    by,
    at: now,
    until: after(now, QUARANTINE_READ_MS),
  } as const;
  const exclusion = await deps.voteExclusions.findOneAndUpdate(
    { _id: quarantineId, state: 'quarantined' },
    { $set: decided, $unset: { origin: '' } },
    { returnDocument: 'after' },
  );
  if (!exclusion) return null;
  await auditAndWake(deps, exclusion);
  return exclusion;
}

/** No operator has to decide about the votes of a removed server. */
export async function requestServerQuarantines(deps: VotesDeps, serverId: ObjectId, by: string) {
  const open = await deps.voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { _id: 1 } })
    .toArray();
  const reason = 'The server was removed.';
  for (const { _id } of open) await requestQuarantineExclusion(deps, _id, { reason }, by);
}

/** Blocks a network for 30 days; its votes stay held. Null when no open quarantine of a network has this origin. */
export async function blockGroup(deps: VotesDeps, origin: string, by: string): Promise<Block | null> {
  const first = await deps.voteExclusions.findOne({ origin, state: 'quarantined' });
  if (first?.cause !== 'network' && first?.cause !== 'neighbourhood') return null;
  return blockOrigin(deps, { origin, reason: first.reason }, by);
}

const BULK = 1_000;

/** Held votes of an exclusion. */
export function castAfter({ _id, serverId }: Pick<VoteExclusion, '_id' | 'serverId'>, until: Date) {
  return { serverId, votedAt: { $gt: until }, excludedAt: { $gt: new Date(0) }, excludedBy: _id };
}

/** Moves what the operator did not see to an open quarantine of the same origin, before the decision is carried out. */
export async function holdLaterVotes(deps: VotesDeps, exclusion: VoteExclusion, lease: ActiveLease) {
  const { _id, shown } = exclusion;
  if (!shown) return;
  for (;;) {
    const later = await deps.votes
      .find(castAfter(exclusion, shown.until), { hint: EXCLUDED_VOTES, projection: { _id: 1 }, limit: BULK })
      .map((vote) => vote._id)
      .toArray();
    if (later.length === 0) break;
    lease.throwIfLost();
    await moveVotes(deps, { ...exclusion, shown }, later);
  }
  await deps.voteExclusions.updateOne({ _id }, { $unset: { shown: '' } });
}

async function moveVotes(
  deps: VotesDeps,
  { _id, serverId, cause, shown }: VoteExclusion & { shown: NonNullable<VoteExclusion['shown']> },
  ids: UUID[],
): Promise<void> {
  const heldFor = { ...(cause ? { cause } : {}), ...(shown.origin ? { origin: shown.origin } : {}) };
  const quarantineId = await openQuarantine(deps, serverId, shown.reason, heldFor);
  // The votes were cast before it was opened.
  await deps.voteExclusions.updateOne({ _id: quarantineId }, { $min: { since: shown.until } });
  await deps.votes.updateMany({ serverId, _id: { $in: ids } }, [
    { $set: { excludedBy: { $setUnion: [{ $setDifference: ['$excludedBy', [_id]] }, [quarantineId]] } } },
  ]);
}
