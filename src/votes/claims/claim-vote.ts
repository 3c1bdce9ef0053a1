import type { Filter, ObjectId, WithId } from 'mongodb';
import { listenersLoader } from '../../listeners/delivery-queues.ts';
import { type Rewards, rewardsOf } from '../../listeners/listener.ts';
import { after } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { arrivalOf, withArrival } from '../arrival.ts';
import { KEY_LIFETIME_MS } from '../cast/cast-once.ts';
import { COOLDOWN_MS, readNewestVotes } from '../cast/cooldown.ts';
import type { VotesDeps } from '../deps.ts';
import { usernameKey } from '../username.ts';
import { type DeliveryState, isImported, type Vote } from '../vote.ts';

/** `username` can have any spelling. */
export type ClaimedPlayer = { serverId: ObjectId; username: string };

/**
 * What a plugin can claim for a player: the newest vote, for `COOLDOWN_MS` after it was cast or its quarantine was lifted.
 * `off`: claims are off, because only the server's listener rewards votes.
 */
export type ClaimState =
  | { kind: 'off' | 'none'; vote: null }
  /** `rewarded`: a plugin claimed the vote, the listener rewards it, or it was imported and rewarded elsewhere. */
  | { kind: 'unclaimed' | 'rewarded'; vote: Vote; rewards: Rewards };

/**
 * Whether a plugin can claim a player's vote. Excluded and quarantined votes cannot be claimed. If the owner switches
 * rewards between the listener and claims: a vote that was cast for one is not rewarded by the other. With `both`, a
 * plugin can also claim votes that the listener gets.
 */
export async function checkClaim(deps: VotesDeps, player: ClaimedPlayer): Promise<ClaimState> {
  const { serverId } = player;
  const key = usernameKey(player.username);
  const [listener, newest] = await Promise.all([
    deps.batcher.load(listenersLoader, deps.listeners, serverId),
    readNewestVotes(deps, { serverId, usernameKey: key }),
  ]);
  const rewards = rewardsOf(listener);
  const since = after(deps.clock.now(), -COOLDOWN_MS);
  const { live, imported } = newest;
  if (live && isClaimable(live, since)) {
    if (rewards === 'push' && isForListener(live, rewards)) return { kind: 'off', vote: null };
    return { kind: isRewarded(live, rewards) ? 'rewarded' : 'unclaimed', vote: live, rewards };
  }
  if (rewards === 'push') return { kind: 'off', vote: null };
  if (imported && isClaimable(imported, since)) return { kind: 'rewarded', vote: imported, rewards };
  return { kind: 'none', vote: null };
}

/**
 * Whether a vote of a server with these rewards is rewarded without a further claim: a plugin claimed it, the listener
 * rewards it, it was imported and rewarded elsewhere, or it is from a backup that was restored. With `both`, votes that
 * the listener got can be claimed.
 */
export function isRewarded(vote: Pick<Vote, 'seq' | 'claim' | 'delivery'>, rewards: Rewards): boolean {
  // What happened after the backup is not known: a plugin may have claimed the vote.
  const isRestored = vote.delivery.events.some(({ kind }) => kind === 'restored');
  const isClaimed = isImported(vote) || Boolean(vote.claim) || isRestored;
  return isClaimed || isForListener(vote, rewards);
}

/** The states of votes that no listener gets. If the listener does not reward, that includes votes that it refused. */
const UNSENT: Record<Exclude<Rewards, 'both'>, DeliveryState[]> = {
  push: ['none'],
  claims: ['none', 'failed'],
};

/** Whether the listener rewards the vote, or may have got it. With `both`, no vote is for the listener alone. */
function isForListener({ delivery }: Pick<Vote, 'delivery'>, rewards: Rewards): boolean {
  if (rewards === 'both') return false;
  return !UNSENT[rewards].includes(delivery.state) || arrivalOf(delivery) !== 'surely-not';
}

/** The filter of the votes for which `isForListener` is false. */
function notForListener(rewards: Rewards): Filter<Vote> {
  if (rewards === 'both') return {};
  return { 'delivery.state': { $in: UNSENT[rewards] }, ...withArrival('surely-not') };
}

function isClaimable({ votedAt, excludedAt, delivery }: Vote, since: Date): boolean {
  const released = delivery.events.findLast(({ kind }) => kind === 'released');
  return (released?.at ?? votedAt) > since && !excludedAt;
}

/** `claimed`: the player must be rewarded now. `claimed-before`: the vote was rewarded earlier. */
export type Claimed =
  | { kind: 'off' | 'none'; vote: null }
  /** `replayed`: an earlier call with the same key claimed the vote. */
  | { kind: 'claimed'; vote: Vote; replayed: boolean }
  | { kind: 'claimed-before'; vote: Vote }
  /** The key was used for another player. */
  | { kind: 'key-reused'; vote: Vote };

/**
 * Claims a player's vote within the cooldown. A conditional update lets only one of several concurrent calls claim the
 * vote. The claim is durable before it is returned.
 *
 * @param claim - `tokenId`: the token of the call. With `key`: if a call claimed a vote, a repeated call with the same
 *   key and player gets that vote again, for `KEY_LIFETIME_MS`
 * @throws the driver's error when MongoDB fails: the vote may have been claimed
 */
export async function claimVote(
  deps: VotesDeps,
  player: ClaimedPlayer,
  { tokenId, key }: { tokenId: ObjectId; key?: string | undefined },
): Promise<Claimed> {
  const { votes, clock } = deps;
  const earlier = key === undefined ? null : await findByKey(deps, player.serverId, key);
  if (earlier && earlier.usernameKey !== usernameKey(player.username)) {
    return { kind: 'key-reused', vote: earlier };
  }
  if (earlier && (await isClaimDurable(deps, earlier)))
    return { kind: 'claimed', vote: earlier, replayed: true };
  const state = await checkClaim(deps, player);
  if (state.kind === 'rewarded') return rewardedEarlier(state.vote, key);
  if (state.kind !== 'unclaimed') return { kind: state.kind, vote: null };

  const { rewards } = state;
  const { serverId, usernameKey: name, seq } = state.vote;
  const unclaimed = { claim: { $exists: false }, excludedAt: { $exists: false } } as const;
  const claimed = await votes.findOneAndUpdate(
    // If somebody sends the vote to the listener at the same moment, only one of the two writes matches.
    { serverId, usernameKey: name, seq, ...unclaimed, ...notForListener(rewards) },
    { $set: { claim: { at: clock.now(), tokenId, ...(key === undefined ? {} : { key }) } } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (claimed) return { kind: 'claimed', vote: claimed, replayed: false };
  // If the update matched no vote: another call has just claimed the vote, it was sent to the listener, or an operator
  // has excluded it.
  const vote = await votes.findOne({ serverId, usernameKey: name, seq });
  const isRewardedNow = vote && !vote.excludedAt && isRewarded(vote, rewards);
  return isRewardedNow ? rewardedEarlier(vote, key) : { kind: 'none', vote: null };
}

/** If a plugin sends the same call twice at once: both calls get `claimed`. */
function rewardedEarlier(vote: Vote, key: string | undefined): Claimed {
  const isSameCall = key !== undefined && vote.claim?.key === key;
  return isSameCall ? { kind: 'claimed', vote, replayed: true } : { kind: 'claimed-before', vote };
}

/** The vote that a call with this key claimed; a key is kept in mind as long as those of votes. */
function findByKey(
  { votes, clock }: VotesDeps,
  serverId: ObjectId,
  key: string,
): Promise<WithId<Vote> | null> {
  return votes.findOne({
    serverId,
    'claim.key': key,
    'claim.at': { $gt: after(clock.now(), -KEY_LIFETIME_MS) },
  });
}

/**
 * Writes the key of an earlier claim again, durably. Without this, a failover could later roll back the claim that was
 * read, and the player would be rewarded a second time.
 *
 * @returns false when a failover has removed the claim
 */
async function isClaimDurable(
  { votes }: VotesDeps,
  { serverId, usernameKey: name, seq, claim }: WithId<Vote>,
): Promise<boolean> {
  const key = claim?.key;
  if (key === undefined) return false;
  const { matchedCount } = await votes.updateOne(
    { serverId, usernameKey: name, seq, 'claim.key': key },
    { $set: { 'claim.key': key } },
    { writeConcern: DURABLE },
  );
  return matchedCount === 1;
}
