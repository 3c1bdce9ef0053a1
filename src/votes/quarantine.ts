import type { Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import { after, type Clock } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import type { Producer } from '../platform/queues.ts';
import { reasonText } from '../platform/text.ts';
import { auditExclusion } from './carry-out-exclusion.ts';
import type { ExcludeDeps } from './exclude-votes.ts';
import { openExclusion } from './open-exclusion.ts';
import { QUARANTINE_READ_MS } from './recount-votes.ts';
import { EXCLUDED_VOTES, type Vote } from './vote.ts';
import type { QuarantineCause, VoteExclusion } from './vote-exclusion.ts';

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
  return openExclusion(deps, open, { reason, ...(cause ? { cause } : {}) });
}

/** Votes of many origins at once: the server is what they have in common. */
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
 * releases an open quarantine. Votes that are cast after a decision enter a new quarantine.
 *
 * @param groupId - the decision about several servers that this is a part of
 * @returns the exclusion; null when no open quarantine has this id
 * @throws {InvalidDocumentError} for the reason
 */
export async function excludeQuarantined(
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
  await auditExclusion(deps, exclusion);
  await deps.producer.add('exclude-votes', { exclusionId: quarantineId.toHexString() });
  return exclusion;
}

const reasonSchema = z.object({ reason: reasonText });

/** Excludes all quarantined votes of a server that is removed, so that no operator has to decide about them. */
export async function closeQuarantine(deps: DecideDeps, serverId: ObjectId, by: string): Promise<void> {
  const open = await deps.voteExclusions
    .find({ serverId, state: 'quarantined' }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of open) await excludeQuarantined(deps, _id, 'The server was removed.', by);
}

/** An open quarantine with the votes it holds. */
export type OpenQuarantine = { quarantine: VoteExclusion; votes: number; players: number };

/** The votes that are counted for one quarantine; more are not counted. */
export const MOST_QUARANTINED = 10_000;

/** The open quarantines, the oldest first. */
export async function openQuarantines(
  { votes, voteExclusions }: { votes: Collection<Vote>; voteExclusions: Collection<VoteExclusion> },
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
