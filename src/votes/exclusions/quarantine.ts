import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { after, MINUTE } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import { DURABLE, isDuplicateKey, MAJORITY, OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import { reasonText } from '../../platform/text.ts';
import type { Block } from '../blocks/block-list.ts';
import { blockOrigin } from '../blocks/change-blocks.ts';
import { QUARANTINE_READ_MS } from '../cast/insert-vote.ts';
import type { VotesDeps } from '../deps.ts';
import type { Vote } from '../vote.ts';
import { auditAndWake } from './request-exclusion.ts';
import { AUTOMATIC, type QuarantineCause, type VoteExclusion } from './vote-exclusion.ts';

/** The fields by which an exclusion is found. Unique indexes allow only one exclusion with the same values. */
type Holding =
  | { serverId: ObjectId; state: 'quarantined'; origin: string | null }
  | { serverId: ObjectId; blockId: ObjectId; state: 'excluded' };

/**
 * Finds the open exclusion that holds new votes of a server, or creates it. The caller marks these votes with its id
 * (`excludedBy`) and `quarantinedAt`, so they are neither counted nor delivered.
 *
 * @param about - more fields of the exclusion, stored if this call creates it
 * @throws the driver's error when MongoDB fails
 */
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
    // If another process's clock is behind: its votes may have an earlier `votedAt` than `now`.
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
      // If another process created it at the same moment: a later read finds it, once it is on a majority.
      if (!isDuplicateKey(error) || performance.now() >= deadline) throw error;
    }
  }
}

/** If a server has this many open quarantines: votes of further origins enter the quarantine without an origin. */
const MOST_ORIGINS = 20;

/** Why a quarantine holds votes, and the origin of these votes: see `Suspicion`. */
type HeldFor = { cause?: QuarantineCause; origin?: string };

const WITHOUT_ORIGIN: HeldFor = { cause: 'new-players' };

/**
 * Finds a server's open quarantine for votes of one origin, or opens it. An operator decides about its votes.
 *
 * @param reason - why the first vote looks unusual
 * @throws the driver's error when MongoDB fails
 */
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

async function hasPlace(
  { voteExclusions }: VotesDeps,
  serverId: ObjectId,
  { origin }: HeldFor,
): Promise<boolean> {
  if (origin === undefined) return true;
  const open = await voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { origin: 1 } })
    .limit(MOST_ORIGINS + 1)
    .toArray();
  return open.length < MOST_ORIGINS || open.some((one) => one.origin === origin);
}

/** Why a vote is held; undefined if its player's name is blocked, or an older version held it without a cause. */
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
 * Stores an operator's decision that the votes of an open quarantine stay excluded. `requestInclusion` undoes it. Votes
 * that are cast after the decision enter a new quarantine.
 *
 * @param text - the reason
 * @param groupId - the id of the decision, if it covers several servers
 * @returns the exclusion; null when no open quarantine has this id
 * @throws {InvalidDocumentError} when the reason is invalid
 */
export async function requestQuarantineExclusion(
  deps: VotesDeps,
  quarantineId: ObjectId,
  text: string,
  by: string,
  groupId?: ObjectId,
): Promise<VoteExclusion | null> {
  const { reason } = parseInput(reasonSchema, { reason: text });
  const now = deps.clock.now();
  const decided = {
    state: 'confirming',
    reason,
    by,
    at: now,
    until: after(now, QUARANTINE_READ_MS),
  } as const;
  const exclusion = await deps.voteExclusions.findOneAndUpdate(
    { _id: quarantineId, state: 'quarantined' },
    { $set: { ...decided, ...(groupId ? { groupId } : {}) }, $unset: { origin: '' } },
    { returnDocument: 'after' },
  );
  if (!exclusion) return null;
  await auditAndWake(deps, exclusion);
  return exclusion;
}

const reasonSchema = z.object({ reason: reasonText });

/** If a server is removed: excludes all its quarantined votes, so that no operator has to decide about them. */
export async function requestServerQuarantines(
  deps: VotesDeps,
  serverId: ObjectId,
  by: string,
): Promise<void> {
  const open = await deps.voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of open) await requestQuarantineExclusion(deps, _id, 'The server was removed.', by);
}

/**
 * Blocks a network whose votes are held, for 30 days. The held votes stay held until an operator decides.
 *
 * @param origin - of the quarantines that hold the votes
 * @returns the block; null when no open quarantine has this origin, or the origin is not a network
 * @throws {InvalidDocumentError} when the network is blocked already, or the list of blocks is full
 */
export async function blockGroup(deps: VotesDeps, origin: string, by: string): Promise<Block | null> {
  const first = await deps.voteExclusions.findOne({ origin, state: 'quarantined' });
  if (first?.cause !== 'network' && first?.cause !== 'neighbourhood') return null;
  return blockOrigin(deps, { origin, reason: first.reason }, by);
}
