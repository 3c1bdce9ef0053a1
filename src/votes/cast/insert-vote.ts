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

/** For example because the connection was lost during the insert. */
export class VoteResultUnknownError extends AppError {
  constructor(cause: unknown) {
    super('the vote may have been counted', { cause });
  }
}

/** Of two processes: each is within 2 s of mongod's clock. */
export const CLOCKS_DIFFER_MS = 4 * SECOND;

/**
 * A vote enters the open quarantine that its request found, within 5 s; an operator may decide meanwhile. So its
 * `votedAt` is at most this much after the decision, although clocks differ.
 */
export const QUARANTINE_READ_MS = CLOCKS_DIFFER_MS + OPERATION_TIMEOUT_MS;

/**
 * A vote is inserted within this time after its `votedAt`, or never: the reads take up to 5 s, the insert is repeated
 * for 5 s, and the last repetition times out after 5 s. The remaining 5 s are a reserve.
 */
export const VOTE_SETTLED_MS = 20 * SECOND;

/** Votes that were cast before this are inserted, or never will be. */
export function settledAt(now: Date): Date {
  return after(now, -(VOTE_SETTLED_MS + CLOCKS_DIFFER_MS));
}

/** At the latest, on any correct clock. An imported vote was inserted long after its `votedAt`. */
export function insertedBy(vote: Pick<Vote, 'votedAt' | 'seq'>): Date | undefined {
  return isImported(vote) ? undefined : after(vote.votedAt, VOTE_SETTLED_MS + CLOCKS_DIFFER_MS);
}

/** How long to wait before a vote that is not yet on a majority is read again. */
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

/** Null if there is none, or it is not on a majority yet. */
export function findSafeVote({ votes, batcher }: InsertDeps, id: Id): Promise<Vote | null> {
  return batcher.load(votesById, votes, id);
}

/**
 * In a batch with other requests. After a duplicate key or an unknown result it reads the vote with this number or this
 * id. The insert can be repeated safely, because both are unique. `isNew`: this call inserted the vote.
 *
 * @throws {VoteResultUnknownError} when the result is unknown; after other errors the vote was not inserted
 */
export async function insertVote(deps: InsertDeps, vote: Vote): Promise<{ vote: Vote; isNew: boolean }> {
  const deadline = performance.now() + OPERATION_TIMEOUT_MS;
  let isUnknown = false;
  for (;;) {
    try {
      await deps.batcher.load(insertVotes, deps.votes, vote, deadline - performance.now());
      return { vote, isNew: true };
    } catch (error) {
      // An earlier try with an unknown result may have inserted the vote.
      if (!isDuplicateKey(error) && !isUnknownResult(error))
        throw isUnknown ? new VoteResultUnknownError(error) : error;
      isUnknown ||= isUnknownResult(error);
      const existing = await readExisting(deps, vote).catch((readError: unknown) => {
        throw new VoteResultUnknownError(readError);
      });
      // With the same id: a try of this call with an unknown result inserted it, or another request with the same key.
      if (existing) return { vote: existing, isNew: existing._id.equals(vote._id) && isUnknown };
      if (performance.now() >= deadline) throw new VoteResultUnknownError(error);
      await pause(READ_AGAIN_MS);
    }
  }
}

/** By number or id; waits until it is durable. */
async function readExisting(deps: InsertDeps, vote: Vote): Promise<Vote | null> {
  const { serverId, usernameKey, seq } = vote;
  const existing =
    (await deps.batcher.load(votesByNumber, deps.votes, { serverId, usernameKey, seq })) ??
    (await findSafeVote(deps, vote));
  if (existing) await deps.durability.confirm();
  return existing;
}
