import { setTimeout as pause } from 'node:timers/promises';
import type { Collection, UUID } from 'mongodb';
import { AppError } from '../../platform/app-error.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../../platform/batching/find-loader.ts';
import { insertLoader } from '../../platform/batching/write-loaders.ts';
import { after, SECOND } from '../../platform/clock.ts';
import type { Durability } from '../../platform/durability.ts';
import {
  DURABLE,
  isDuplicateKey,
  isUnknownResult,
  MAJORITY,
  OPERATION_TIMEOUT_MS,
} from '../../platform/mongo.ts';
import { isImported, type Vote } from '../vote.ts';

/** The vote may have been cast, for example because the connection was lost during the insert. */
export class VoteResultUnknownError extends AppError {
  constructor(cause: unknown) {
    super('the vote may have been counted', { cause });
  }
}

/** The clocks of two processes differ by at most this much: each is within 2 s of mongod's clock. */
export const CLOCKS_DIFFER_MS = 4 * SECOND;

/**
 * A vote enters the open quarantine that its request found. The search takes up to 5 s, and an operator may decide
 * meanwhile. So a vote's `votedAt` is at most this much after the decision about its quarantine, although the clocks of
 * two processes may differ.
 */
export const QUARANTINE_READ_MS = CLOCKS_DIFFER_MS + OPERATION_TIMEOUT_MS;

/**
 * A vote is inserted within this time after its `votedAt`, or never. The reads take up to 5 s. The insert is sent and
 * repeated within the next 5 s, and the last repetition times out after 5 s. The remaining 5 s are a reserve.
 */
export const VOTE_SETTLED_MS = 20 * SECOND;

/**
 * The latest time of the vote's insert, on any correct clock. Undefined for an imported vote: it was inserted long
 * after its `votedAt`.
 */
export function insertedBy(vote: Pick<Vote, 'votedAt' | 'seq'>): Date | undefined {
  return isImported(vote) ? undefined : after(vote.votedAt, VOTE_SETTLED_MS + CLOCKS_DIFFER_MS);
}

/** The pause between two reads of a vote that is not yet on a majority. */
const READ_AGAIN_MS = 20;

type VoteNumber = Pick<Vote, 'serverId' | 'usernameKey' | 'seq'>;
type Id = { serverId: Vote['serverId']; _id: UUID };

const insertVotes = insertLoader<Vote>(DURABLE);

const votesByNumber = findLoader<Vote, VoteNumber>({
  filter: (numbers) =>
    numbers.length === 1
      ? (numbers[0] as VoteNumber)
      : { serverId: anyOf(numbers.map(({ serverId }) => serverId)), $or: numbers },
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

type InsertDeps = { votes: Collection<Vote>; batcher: Batcher; durability: Durability };

/** The vote with this id; null if there is none, or it is not on a majority yet. */
export function findSafeVote({ votes, batcher }: InsertDeps, id: Id): Promise<Vote | null> {
  return batcher.load(votesById, votes, id);
}

/**
 * Inserts `vote` in a batch with those of other requests. After a duplicate key or an unknown result it reads the vote
 * with this number or this id. The insert can be repeated safely, because the id and the number of a vote are unique.
 *
 * @returns the stored vote, and in `isNew` whether this call inserted it
 * @throws {VoteResultUnknownError} when the result of the insert is unknown; after other errors it was not inserted
 */
export async function insertVote(deps: InsertDeps, vote: Vote): Promise<{ vote: Vote; isNew: boolean }> {
  const deadline = performance.now() + OPERATION_TIMEOUT_MS;
  let isUnknown = false;
  for (;;) {
    try {
      await deps.batcher.load(insertVotes, deps.votes, vote, deadline - performance.now());
      return { vote, isNew: true };
    } catch (error) {
      // If an earlier try had an unknown result: this error does not show whether that try inserted the vote.
      if (!isDuplicateKey(error) && !isUnknownResult(error))
        throw isUnknown ? new VoteResultUnknownError(error) : error;
      isUnknown ||= isUnknownResult(error);
      const existing = await readExisting(deps, vote).catch((readError: unknown) => {
        throw new VoteResultUnknownError(readError);
      });
      // If the existing vote has the same id: this call inserted it if one of its tries had an unknown result.
      // Otherwise another request with the same idempotency key did.
      if (existing) return { vote: existing, isNew: existing._id.equals(vote._id) && isUnknown };
      if (performance.now() >= deadline) throw new VoteResultUnknownError(error);
      await pause(READ_AGAIN_MS);
    }
  }
}

/** Reads the vote that has the number or the id of `vote`, and waits until it is durable; null if there is none. */
async function readExisting(deps: InsertDeps, vote: Vote): Promise<Vote | null> {
  const { serverId, usernameKey, seq } = vote;
  const existing =
    (await deps.batcher.load(votesByNumber, deps.votes, { serverId, usernameKey, seq })) ??
    (await findSafeVote(deps, vote));
  if (existing) await deps.durability.confirm();
  return existing;
}
