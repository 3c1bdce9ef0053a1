import type { ObjectId } from 'mongodb';
import { parseInput } from '../../platform/input.ts';
import { DURABLE, isDuplicateKey } from '../../platform/mongo.ts';
import type { VotesDeps } from '../deps.ts';
import { serverIdSlices } from '../server-id-slices.ts';
import { usernameKey } from '../username.ts';
import {
  ExclusionError,
  type ExclusionReasons,
  hashedId,
  type RequestOptions,
  reasonsSchema,
  requestInclusion,
  requireOver,
} from './request-exclusion.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

/** `serverId` is null for all servers, `since` for no beginning. */
export type PlayerRange = { username: string; serverId: ObjectId | null; since: Date | null; until: Date };

export type PlayerVotes = { serverId: ObjectId; votes: number; excluded: number };

/** One decision excludes the votes of at most so many servers. */
const MOST_SERVERS = 1_000;

const THE_BEGINNING = new Date(0);

/**
 * For each server that has any, removed ones included, the most votes first. It costs one index seek for each server of
 * the listing, so it is only for an operator's decision.
 *
 * @throws {ExclusionError} `too-many-servers` for more than 1,000
 */
export async function countPlayerVotes(
  { votes, servers }: VotesDeps,
  { username, serverId, since, until }: PlayerRange,
): Promise<PlayerVotes[]> {
  const votedAt = { $gte: since ?? THE_BEGINNING, $lt: until };
  const key = usernameKey(username);
  const found: PlayerVotes[] = [];
  for await (const ids of serverId ? [[serverId]] : serverIdSlices(servers)) {
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
        // Servers with equal votes keep their order when the page is loaded again.
        { $sort: { _id: 1 } },
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

type PlayerExclusion = PlayerRange & ExclusionReasons;

/**
 * Stores one exclusion for each server that a player voted for. Workers finish them, as with `requestExclusion`.
 * `groupId` was made when the form was shown: a repeated call only completes an interrupted one.
 *
 * @throws {ExclusionError} if the range is refused
 */
export async function requestPlayerExclusion(
  deps: VotesDeps,
  groupId: ObjectId,
  request: PlayerExclusion,
  by: string,
  { wakesWorker = true }: RequestOptions = {},
): Promise<VoteExclusion[]> {
  const stored = await storePlayerExclusion(deps, groupId, request, by);
  const jobs = stored.map(({ _id }) => ({ payload: { exclusionId: _id.toHexString() } }));
  if (wakesWorker) await deps.producer.addAll('exclude-votes', jobs);
  return stored;
}

async function storePlayerExclusion(
  deps: VotesDeps,
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
  // After a crash of mongod during an earlier call, only some may be stored.
  const missing = found.filter(({ serverId }) => !existing.some((one) => one.serverId.equals(serverId)));
  if (missing.length === 0) return existing;
  const wanted = missing.map(({ serverId }): VoteExclusion => {
    const range = { serverId, since, until, tokenId: null, username, usernameKey: usernameKey(username) };
    const { reasonForOwner: forOwner } = reasons;
    return {
      ...range,
      ...(forOwner ? { reasonForOwner: forOwner } : {}),
      _id: hashedId(`${groupId.toHexString()} ${serverId.toHexString()}`),
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

export function exclusionsOfGroup({ voteExclusions }: VotesDeps, groupId: ObjectId) {
  return voteExclusions.find({ groupId }).sort({ _id: 1 }).toArray();
}

/** A repeated call changes nothing. Returns the exclusions as they were before. */
export async function requestGroupInclusion(
  deps: VotesDeps,
  groupId: ObjectId,
  by: string,
  options: RequestOptions = {},
): Promise<VoteExclusion[]> {
  const exclusions = await exclusionsOfGroup(deps, groupId);
  for (const { _id } of exclusions) await requestInclusion(deps, _id, by, options);
  return exclusions;
}
