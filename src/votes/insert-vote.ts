import { setTimeout as pause } from 'node:timers/promises';
import type { Collection, UUID } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { insertLoader } from '../platform/batching/write-loaders.ts';
import type { Durability } from '../platform/durability.ts';
import {
  DURABLE,
  isDuplicateKey,
  isUnknownResult,
  MAJORITY,
  OPERATION_TIMEOUT_MS,
} from '../platform/mongo.ts';
import type { Vote } from './vote.ts';

/** The database was lost in the middle: the vote may have been counted. */
export class VoteResultUnknownError extends Error {
  constructor(cause: unknown) {
    super('the vote may have been counted', { cause });
    this.name = 'VoteResultUnknownError';
  }
}

/** Between two looks at a place that is taken by a vote not yet safe on a majority. */
const READ_AGAIN_MS = 20;

type Place = Pick<Vote, 'serverId' | 'usernameKey' | 'seq'>;
type Id = { serverId: Vote['serverId']; _id: UUID };

const insertVotes = insertLoader<Vote>(DURABLE);

const votesByPlace = findLoader<Vote, Place>({
  filter: (places) =>
    places.length === 1
      ? (places[0] as Place)
      : { serverId: anyOf(places.map(({ serverId }) => serverId)), $or: places },
  nameOf: ({ serverId, usernameKey, seq }) => `${serverId.toHexString()} ${seq} ${usernameKey}`,
  keyOf: ({ serverId, usernameKey, seq }) => ({ serverId, usernameKey, seq }),
  options: MAJORITY,
});

const votesById = findLoader<Vote, Id>({
  filter: (ids) => ({
    serverId: anyOf(ids.map(({ serverId }) => serverId)),
    _id: anyOf(ids.map(({ _id }) => _id)),
  }),
  nameOf: ({ serverId, _id }) => `${serverId.toHexString()} ${_id.toString()}`,
  keyOf: ({ serverId, _id }) => ({ serverId, _id }),
  options: MAJORITY,
});

type Inserting = { votes: Collection<Vote>; batcher: Batcher; durability: Durability };

/** A vote that a majority holds, or null. */
export function findSafeVote({ votes, batcher }: Inserting, id: Id): Promise<Vote | null> {
  return batcher.load(votesById, votes, id);
}

/**
 * Inserts `vote` together with those of other requests, finding out what stands in its place when the end of an
 * insert is unknown or the place is taken. Sending the same document again is harmless: its id and its place are
 * unique.
 *
 * @returns the vote that stands at this player's `seq`, and whether it was this call that inserted it
 * @throws {VoteResultUnknownError} when it cannot be known whether it was inserted; else it was not
 */
export async function insertOnce(
  deps: Inserting,
  vote: Vote,
): Promise<{ existing: Vote; insertedNow: boolean }> {
  const deadline = performance.now() + OPERATION_TIMEOUT_MS;
  let endUnknown = false;
  for (;;) {
    try {
      await deps.batcher.load(insertVotes, deps.votes, vote, deadline - performance.now());
      return { existing: vote, insertedNow: true };
    } catch (error) {
      // What fails now says nothing of an insert sent before whose end was lost.
      if (!isDuplicateKey(error) && !isUnknownResult(error))
        throw endUnknown ? new VoteResultUnknownError(error) : error;
      endUnknown ||= isUnknownResult(error);
      const existing = await readStatus(deps, vote).catch((readError: unknown) => {
        throw new VoteResultUnknownError(readError);
      });
      // Our id there without a lost end of ours: another process finished the same idempotent request.
      if (existing) return { existing, insertedNow: existing._id.equals(vote._id) && endUnknown };
      if (performance.now() >= deadline) throw new VoteResultUnknownError(error);
      await pause(READ_AGAIN_MS);
    }
  }
}

/** The vote at the place of `vote`, or the same vote at another place (finished by another process); durable. */
async function readStatus(deps: Inserting, vote: Vote): Promise<Vote | null> {
  const { serverId, usernameKey, seq } = vote;
  const existing =
    (await deps.batcher.load(votesByPlace, deps.votes, { serverId, usernameKey, seq })) ??
    (await findSafeVote(deps, vote));
  if (existing) await deps.durability.confirm();
  return existing;
}
