import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { rewardsOf } from '../../listeners/rewards.ts';
import { listenersLoader } from '../../listeners/server-listener.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import { after, type Clock, DAY } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { COOLDOWN_MS } from '../cooldown.ts';
import { newestVotesLoader } from '../newest-votes.ts';
import { usernameKey } from '../username.ts';
import type { Vote } from '../vote.ts';

/** The dependencies of checking and claiming votes. */
export type Claiming = {
  votes: Collection<Vote>;
  listeners: Collection<Listener>;
  batcher: Batcher;
  clock: Clock;
};

/** A player of a server, in any spelling. */
export type ClaimedPlayer = { serverId: ObjectId; username: string };

/** What a plugin can claim for a player. `off`: the server's listener rewards votes, and plugins cannot claim them. */
export type ClaimState =
  | { kind: 'off' | 'none'; vote: null }
  /** The player's vote of the last 24 hours. An imported vote counts as claimed: the listing before rewarded it. */
  | { kind: 'unclaimed' | 'claimed'; vote: Vote };

/**
 * Whether a player voted for a server in the last 24 hours, and whether a plugin has claimed that vote. Excluded and
 * quarantined votes are none.
 */
export async function checkClaim(deps: Claiming, player: ClaimedPlayer): Promise<ClaimState> {
  const { serverId } = player;
  const key = usernameKey(player.username);
  const [listener, newest] = await Promise.all([
    deps.batcher.load(listenersLoader, deps.listeners, serverId),
    deps.batcher.load(newestVotesLoader, deps.votes, { serverId, usernameKey: key }),
  ]);
  if (rewardsOf(listener) === 'push') return { kind: 'off', vote: null };
  const since = after(deps.clock.now(), -COOLDOWN_MS);
  const { live, imported } = newest;
  if (live && isClaimable(live, since)) return { kind: live.claim ? 'claimed' : 'unclaimed', vote: live };
  if (imported && isClaimable(imported, since)) return { kind: 'claimed', vote: imported };
  return { kind: 'none', vote: null };
}

function isClaimable({ votedAt, excludedAt }: Vote, since: Date): boolean {
  return votedAt > since && !excludedAt;
}

/** The result of a claim. `claimed`: the player is rewarded now; `claimed-before`: some call claimed the vote earlier. */
export type Claimed =
  | { kind: 'off' | 'none'; vote: null }
  | { kind: 'claimed' | 'claimed-before'; vote: Vote }
  /** The key was used for another player. */
  | { kind: 'key-reused'; vote: Vote };

/**
 * Claims a player's vote of the last 24 hours. One conditional update decides, so that of any number of calls at once
 * exactly one claims it. The claim is durable before it is returned.
 *
 * @param claim - `tokenId`: the token of the call. With `key`, a repeated call of the same key and player within 24 hours
 *   gets the first result again
 * @throws the driver's error when MongoDB fails: the vote may have been claimed then
 */
export async function claimVote(
  deps: Claiming,
  player: ClaimedPlayer,
  { tokenId, key }: { tokenId: ObjectId; key?: string | undefined },
): Promise<Claimed> {
  const { votes, clock } = deps;
  const earlier = key === undefined ? null : await findByKey(deps, player.serverId, key);
  if (earlier) {
    const isSame = earlier.usernameKey === usernameKey(player.username);
    return { kind: isSame ? 'claimed' : 'key-reused', vote: earlier };
  }
  const state = await checkClaim(deps, player);
  if (state.kind === 'claimed') return claimedEarlier(state.vote, key);
  if (state.kind !== 'unclaimed') return { kind: state.kind, vote: null };

  const { serverId, usernameKey: name, seq } = state.vote;
  const claimed = await votes.findOneAndUpdate(
    { serverId, usernameKey: name, seq, claim: { $exists: false }, excludedAt: { $exists: false } },
    { $set: { claim: { at: clock.now(), tokenId, ...(key === undefined ? {} : { key }) } } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (claimed) return { kind: 'claimed', vote: claimed };
  // Another call claimed it meanwhile, or an operator excluded it.
  const vote = await votes.findOne({ serverId, usernameKey: name, seq });
  return vote?.claim && !vote.excludedAt ? claimedEarlier(vote, key) : { kind: 'none', vote: null };
}

/** The same call, sent twice at once, gets the first result. */
function claimedEarlier(vote: Vote, key: string | undefined): Claimed {
  return { kind: key !== undefined && vote.claim?.key === key ? 'claimed' : 'claimed-before', vote };
}

/** The vote that a call with this key claimed in the last 24 hours. */
function findByKey(
  { votes, clock }: Claiming,
  serverId: ObjectId,
  key: string,
): Promise<WithId<Vote> | null> {
  return votes.findOne({ serverId, 'claim.key': key, 'claim.at': { $gt: after(clock.now(), -DAY) } });
}
