import { type Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import { DURABLE, isDuplicateKey, MAJORITY, OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import type { Producer } from '../../platform/producer.ts';
import { reasonText } from '../../platform/text.ts';
import type { Block } from '../blocks/block-list.ts';
import { blockOrigin, type ChangeDeps } from '../blocks/change-blocks.ts';
import { QUARANTINE_READ_MS } from '../cast/insert-vote.ts';
import { EXCLUDED_VOTES, type Vote } from '../vote.ts';
import { auditAndWake, type ExcludeDeps, requestInclusion } from './request-exclusion.ts';
import { AUTOMATIC, type QuarantineCause, type VoteExclusion } from './vote-exclusion.ts';

/** The fields by which the exclusion is found. A unique index allows one such exclusion per server and, if it has one, origin. */
type Holding =
  | { serverId: ObjectId; state: 'quarantined'; origin: string | null }
  | { serverId: ObjectId; blockId: ObjectId; state: 'excluded' };

/**
 * The exclusion that holds votes of a server as they are cast, opened when there is none. Its votes have its id in
 * `excludedBy` and `quarantinedAt`, and they are neither counted nor delivered.
 *
 * @param about - what is stored when it is opened
 * @throws the driver's error when MongoDB fails
 */
export async function openHoldingExclusion(
  { voteExclusions, clock }: { voteExclusions: Collection<VoteExclusion>; clock: Clock },
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
    // The clock of another process may be behind this one.
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
      // If another process opened one at the same moment, it may not be on a majority yet.
      if (!isDuplicateKey(error) || performance.now() >= deadline) throw error;
    }
  }
}

/** A server has at most this many open quarantines; votes of further origins enter the one without an origin. */
const MOST_ORIGINS = 20;

/** What a quarantine holds: see `Suspicion`. */
type HeldFor = { cause?: QuarantineCause; origin?: string };

/**
 * The open quarantine of a server for votes of one origin, opened when there is none. An operator decides about its votes.
 *
 * @param reason - why the first vote looks unusual
 * @throws the driver's error when MongoDB fails
 */
export async function openQuarantine(
  deps: { voteExclusions: Collection<VoteExclusion>; clock: Clock },
  serverId: ObjectId,
  reason: string,
  heldFor: HeldFor = {},
): Promise<ObjectId> {
  const { cause, origin } = (await hasPlace(deps, serverId, heldFor)) ? heldFor : MANY;
  const open = { serverId, state: 'quarantined', origin: origin ?? null } as const;
  return openHoldingExclusion(deps, open, { reason, ...(cause ? { cause } : {}) });
}

/**
 * What a quarantine without an origin holds. If votes of many origins are held at once, they have only the server in
 * common.
 */
const MANY: HeldFor = { cause: 'new-players' };

async function hasPlace(
  { voteExclusions }: { voteExclusions: Collection<VoteExclusion> },
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

/** Why a vote is quarantined; undefined when an older version did it. */
export async function causeOf(
  { voteExclusions }: { voteExclusions: Collection<VoteExclusion> },
  { excludedBy = [] }: Pick<Vote, 'excludedBy'>,
): Promise<QuarantineCause | undefined> {
  const quarantine = await voteExclusions.findOne(
    { _id: { $in: excludedBy }, isQuarantine: true },
    { projection: { cause: 1 } },
  );
  return quarantine?.cause ?? undefined;
}

type DecideDeps = Pick<ExcludeDeps, 'voteExclusions' | 'auditLog' | 'clock'> & {
  producer: Pick<Producer, 'add'>;
};

/**
 * Stores an operator's decision that the votes of a quarantine stay excluded; undo it with `requestInclusion`, which also
 * lifts an open quarantine. Votes that are cast after a decision enter a new quarantine.
 *
 * @param groupId - the decision about several servers that this is a part of
 * @returns the exclusion; null when no open quarantine has this id
 * @throws {InvalidDocumentError} for the reason
 */
export async function requestQuarantineExclusion(
  deps: DecideDeps,
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

/** Excludes all quarantined votes of a server that is removed, so that no operator has to decide about them. */
export async function requestServerQuarantines(
  deps: DecideDeps,
  serverId: ObjectId,
  by: string,
): Promise<void> {
  const open = await deps.voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of open) await requestQuarantineExclusion(deps, _id, 'The server was removed.', by);
}

type ReadDeps = { votes: Collection<Vote>; voteExclusions: Collection<VoteExclusion> };

/** An open quarantine with the votes it holds. */
export type OpenQuarantine = { quarantine: VoteExclusion; votes: number; players: number };

/** Counting the votes of one quarantine stops at this number. */
export const MOST_QUARANTINED = 10_000;

/** The open quarantines, the oldest first. */
export async function openQuarantines(
  { votes, voteExclusions }: ReadDeps,
  { limit }: { limit: number },
): Promise<OpenQuarantine[]> {
  const open = await voteExclusions.find({ state: 'quarantined' }).sort({ at: 1 }).limit(limit).toArray();
  return Promise.all(
    open.map(async (quarantine) => {
      const { _id, serverId, since } = quarantine;
      const [counted] = await votes
        .aggregate<{ votes: number; players: number }>(
          [
            {
              $match: {
                serverId,
                votedAt: { $gte: since },
                excludedAt: { $gt: new Date(0) },
                excludedBy: _id,
              },
            },
            { $limit: MOST_QUARANTINED },
            { $group: { _id: '$usernameKey', votes: { $sum: 1 } } },
            { $group: { _id: null, votes: { $sum: '$votes' }, players: { $sum: 1 } } },
          ],
          { hint: EXCLUDED_VOTES },
        )
        .toArray();
      return { quarantine, votes: counted?.votes ?? 0, players: counted?.players ?? 0 };
    }),
  );
}

/** The open quarantines that one operator's decision ends: those of an origin on all servers, or a server's own one. */
export type QuarantineGroup = {
  /** The keyed hash of the network, neighbourhood or mail domain; null for the votes of one server together. */
  origin: string | null;
  /** The oldest first. */
  quarantines: OpenQuarantine[];
};

/** The most quarantines that one decision ends; the next decision ends the rest. */
const MOST_OF_GROUP = 1_000;

/** The groups of the oldest open quarantines. */
export async function quarantineGroups(
  deps: ReadDeps,
  { limit }: { limit: number },
): Promise<QuarantineGroup[]> {
  const groups = new Map<string, QuarantineGroup>();
  for (const open of await openQuarantines(deps, { limit })) {
    const { _id, origin } = open.quarantine;
    const key = origin ?? _id.toHexString();
    const group = groups.get(key) ?? { origin: origin ?? null, quarantines: [] };
    group.quarantines.push(open);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** How operators decide about a group. */
export type GroupDecision = 'lift' | 'exclude';

/**
 * Decides about all open quarantines of an origin, one after another, so the audit log has an entry for each server.
 * After a crash, the same call decides about the rest.
 *
 * @param reason - for an exclusion
 * @returns how many were open; 0 when another operator was first
 * @throws {InvalidDocumentError} for the reason
 */
export async function requestGroupDecision(
  deps: ExcludeDeps,
  origin: string,
  decision: GroupDecision,
  { by, reason }: { by: string; reason: string },
): Promise<number> {
  const open = await openOfOrigin(deps, origin);
  // One id for all, so that the exclusion can be undone on all servers at once.
  const groupId = new ObjectId();
  for (const { _id } of open) {
    if (decision === 'lift') await requestInclusion(deps, _id, by);
    else await requestQuarantineExclusion(deps, _id, reason, by, groupId);
  }
  return open.length;
}

/**
 * Blocks the network of a group for 30 days. Its held votes stay held until they are decided.
 *
 * @returns the block; null when no open quarantine holds votes of such a network
 * @throws {InvalidDocumentError} when it is blocked already, or the list of blocks is full
 */
export async function blockGroup(
  deps: Pick<ExcludeDeps, 'voteExclusions'> & ChangeDeps,
  origin: string,
  by: string,
): Promise<Block | null> {
  const [first] = await openOfOrigin(deps, origin);
  if (first?.cause !== 'network' && first?.cause !== 'neighbourhood') return null;
  return blockOrigin(deps, { origin, reason: first.reason }, by);
}

function openOfOrigin(
  { voteExclusions }: Pick<ExcludeDeps, 'voteExclusions'>,
  origin: string,
): Promise<VoteExclusion[]> {
  return voteExclusions
    .find({ origin, state: 'quarantined' })
    .sort({ _id: 1 })
    .limit(MOST_OF_GROUP)
    .toArray();
}
