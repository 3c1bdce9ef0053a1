import type { ObjectId, UUID } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { readCooldown } from './cast/cooldown.ts';
import type { VotesDeps } from './deps.ts';
import { selected, type VoteSelection } from './sent-not-confirmed.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

/** Newest first. */
export function listVotes(
  { votes }: VotesDeps,
  serverId: ObjectId,
  { state, limit }: { state?: VoteSelection; limit: number },
): Promise<Vote[]> {
  return votes
    .find({ serverId, ...(state ? selected([state]) : {}) })
    .sort({ votedAt: -1 })
    .limit(limit)
    .toArray();
}

/** If one of the newest votes is excluded, so many are read at most. */
const MOST_READ = 5_000;

/** Only among the newest 5,000. */
export async function listCountedVotes(deps: VotesDeps, serverId: ObjectId, limit: number): Promise<Vote[]> {
  const { votes } = deps;
  const newest = await listVotes(deps, serverId, { limit });
  if (newest.every(({ excludedAt }) => !excludedAt)) return newest;
  return votes
    .aggregate<Vote>([
      { $match: { serverId } },
      { $sort: { votedAt: -1 } },
      { $limit: MOST_READ },
      { $match: { excludedAt: null } },
      { $limit: limit },
    ])
    .toArray();
}

/** On a sharded cluster this queries every shard, so no API request uses it. */
export function findVote({ votes }: VotesDeps, voteId: UUID): Promise<Vote | null> {
  return votes.findOne({ _id: voteId });
}

/** For a plugin's author; the vote still counts. Returns whether a cooldown was running. */
export async function endCooldown(
  deps: VotesDeps,
  serverId: ObjectId,
  username: string,
  by: string,
): Promise<boolean> {
  const { votes, auditLog, clock } = deps;
  const now = clock.now();
  const player = { serverId, usernameKey: usernameKey(username) };
  const { blocking } = await readCooldown(deps, player, now);
  const [newest] = blocking;
  if (!newest) return false;
  await votes.updateMany(
    { serverId, _id: { $in: blocking.map(({ _id }) => _id) } },
    { $set: { cooldownEndedAt: now } },
  );
  await recordAudit(
    { auditLog, clock },
    {
      by,
      action: 'vote.forget',
      serverId,
      details: { voteId: newest._id.toString(), username: newest.username },
    },
  );
  return true;
}
