import { createHash } from 'node:crypto';
import { type Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import { parseInput } from '../platform/input.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import type { Server } from '../servers/server.ts';
import { type CarryOutOptions, carryOut } from './carry-out-exclusion.ts';
import {
  type ExcludeDeps,
  ExclusionError,
  type ExclusionRequest,
  requestInclusion,
  requireOver,
  underLease,
} from './exclude-votes.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

type Servers = { servers: Collection<Server> };

/** One player's votes: on one server, or on all; `since` null means from the first vote. */
export type PlayerRange = { username: string; serverId: ObjectId | null; since: Date | null; until: Date };

/** A player's votes on one server, and how many of them are excluded already. */
export type PlayerVotes = { serverId: ObjectId; votes: number; excluded: number };

/** The number of servers whose votes one query counts. */
const SLICE = 500;

/** One exclusion covers at most this many servers. */
const MOST_SERVERS = 1_000;

const THE_BEGINNING = new Date(0);

/**
 * How many votes of a player are in a range, for each server that has any. Removed servers included. A seek in the index
 * of players for each server of the listing: for an operator's decision only.
 *
 * @throws {ExclusionError} `too-many-servers`
 */
export async function countPlayerVotes(
  { votes, servers }: { votes: Collection<Vote> } & Servers,
  { username, serverId, since, until }: PlayerRange,
): Promise<PlayerVotes[]> {
  const votedAt = { $gte: since ?? THE_BEGINNING, $lt: until };
  const key = usernameKey(username);
  const found: PlayerVotes[] = [];
  for await (const ids of serverId ? [[serverId]] : slices(servers)) {
    const counted = votes.aggregate<PlayerVotes>(
      [
        { $match: { serverId: { $in: ids }, usernameKey: key, votedAt } },
        {
          $group: {
            _id: '$serverId',
            votes: { $sum: 1 },
            excluded: { $sum: { $cond: [{ $gt: ['$excludedAt', null] }, 1, 0] } },
          },
        },
        { $project: { _id: 0, serverId: '$_id', votes: 1, excluded: 1 } },
      ],
      { hint: 'serverId_1_usernameKey_1_seq_1' },
    );
    found.push(...(await counted.toArray()));
    if (found.length > MOST_SERVERS) {
      throw new ExclusionError(
        'too-many-servers',
        `The player voted for more than ${MOST_SERVERS} servers: choose a shorter time or one server.`,
      );
    }
  }
  return found.toSorted((one, other) => other.votes - one.votes);
}

/** The ids of all servers, some at a time. */
async function* slices(servers: Collection<Server>): AsyncGenerator<ObjectId[]> {
  let last: ObjectId | undefined;
  for (;;) {
    const ids: ObjectId[] = await servers
      .find(last ? { _id: { $gt: last } } : {}, { sort: { _id: 1 }, limit: SLICE, projection: { _id: 1 } })
      .map(({ _id }) => _id)
      .toArray();
    last = ids.at(-1);
    if (!last) return;
    yield ids;
  }
}

type PlayerExclusion = PlayerRange & Pick<ExclusionRequest, 'reason' | 'reasonForOwner'>;

const reasonsSchema = z.object({ reason: reasonText, reasonForOwner: optionalReason });

/**
 * Stores an exclusion for each server that a player voted for. All belong to one group and are stored by one command;
 * workers carry them out, as those of `requestExclusion`. A repeated call with the same id completes an interrupted one and
 * changes nothing else.
 *
 * @param groupId - made when the votes were shown
 * @returns the stored exclusions; none when the player has no votes in the range
 * @throws {ExclusionError}; {InvalidDocumentError} for a reason
 */
export async function requestPlayerExclusion(
  deps: ExcludeDeps & Servers,
  groupId: ObjectId,
  request: PlayerExclusion,
  by: string,
): Promise<VoteExclusion[]> {
  const stored = await storePlayerExclusion(deps, groupId, request, by);
  await deps.producer.addAll(
    'exclude-votes',
    stored.map(({ _id }) => ({ payload: { exclusionId: _id.toHexString() } })),
  );
  return stored;
}

/** The same, carried out at once: for the command line. */
export async function excludePlayer(
  deps: ExcludeDeps & Servers,
  request: PlayerExclusion,
  by: string,
  { progress, ...options }: CarryOutOptions = {},
): Promise<VoteExclusion[]> {
  const stored = await storePlayerExclusion(deps, new ObjectId(), request, by);
  const done: VoteExclusion[] = [];
  for (const exclusion of stored) {
    progress?.(done.length, stored.length);
    const work = (lease: Parameters<typeof carryOut>[2]) => carryOut(deps, exclusion, lease, options);
    done.push(await underLease(deps, exclusion.serverId, options, work));
  }
  return done;
}

async function storePlayerExclusion(
  deps: ExcludeDeps & Servers,
  groupId: ObjectId,
  request: PlayerExclusion,
  by: string,
): Promise<VoteExclusion[]> {
  const { reason, reasonForOwner } = request;
  const reasons = parseInput(reasonsSchema, { reason, reasonForOwner });
  const { username, until } = request;
  const since = request.since ?? THE_BEGINNING;
  requireOver({ since, until }, deps.clock.now());
  const existing = await exclusionsOfGroup(deps, groupId);
  const found = await countPlayerVotes(deps, request);
  // A crash of mongod may have stored only some of them.
  const missing = found.filter(({ serverId }) => !existing.some((one) => one.serverId.equals(serverId)));
  if (missing.length === 0) return existing;
  const wanted = missing.map(({ serverId }): VoteExclusion => {
    const range = { serverId, since, until, tokenId: null, username, usernameKey: usernameKey(username) };
    const { reasonForOwner: forOwner } = reasons;
    return {
      ...range,
      ...(forOwner ? { reasonForOwner: forOwner } : {}),
      _id: idOf(groupId, serverId),
      groupId,
      reason: reasons.reason,
      by,
      at: deps.clock.now(),
      undone: null,
      state: 'excluding-player',
      days: [],
      votes: null,
    };
  });
  await deps.voteExclusions
    .insertMany(wanted, { ordered: false, writeConcern: DURABLE })
    .catch((error: unknown) => {
      // The same form was sent twice at once.
      if (!isDuplicateKey(error)) throw error;
    });
  return exclusionsOfGroup(deps, groupId);
}

function idOf(groupId: ObjectId, serverId: ObjectId): ObjectId {
  const hash = createHash('sha256').update(`${groupId.toHexString()} ${serverId.toHexString()}`);
  return new ObjectId(hash.digest('hex').slice(0, 24));
}

/** The exclusions of one decision about a player. */
export function exclusionsOfGroup(
  { voteExclusions }: Pick<ExcludeDeps, 'voteExclusions'>,
  groupId: ObjectId,
): Promise<VoteExclusion[]> {
  return voteExclusions.find({ groupId }).sort({ _id: 1 }).toArray();
}

/**
 * Undoes the exclusion of a player on all servers, as `requestInclusion` does on one. A repeated call changes nothing.
 *
 * @returns how many exclusions the decision has
 */
export async function requestPlayerInclusion(
  deps: ExcludeDeps,
  groupId: ObjectId,
  by: string,
): Promise<number> {
  const exclusions = await exclusionsOfGroup(deps, groupId);
  for (const { _id } of exclusions) await requestInclusion(deps, _id, by);
  return exclusions.length;
}
