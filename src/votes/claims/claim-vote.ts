import type { Filter, ObjectId, WithId } from 'mongodb';
import { listenersLoader } from '../../listeners/delivery-queues.ts';
import { type Rewards, rewardsOf, rewardsOfVote } from '../../listeners/listener.ts';
import { after } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { arrivalOf, withArrival } from '../arrival.ts';
import { KEY_LIFETIME_MS } from '../cast/cast-once.ts';
import { COOLDOWN_MS, readNewestVotes } from '../cast/cooldown.ts';
import type { VotesDeps } from '../deps.ts';
import { usernameKey } from '../username.ts';
import { type DeliveryState, isImported, type Vote } from '../vote.ts';

/** `username`: in any spelling. */
export type ClaimedPlayer = { serverId: ObjectId; username: string };

/** Only of the newest vote, for `COOLDOWN_MS`. `off`: only the listener rewards votes. */
export type ClaimState =
  | { kind: 'off' | 'none'; vote: null }
  /** `rewarded`: claimed, from the listener, or elsewhere before the import. */
  | { kind: 'unclaimed' | 'rewarded'; vote: Vote; rewards: Rewards };

/**
 * Whether a plugin can claim a player's vote. Excluded and quarantined ones cannot be claimed. If the owner switches
 * rewards, a vote that was cast for the listener is not rewarded by a claim, nor the other way round.
 */
export async function checkClaim(deps: VotesDeps, player: ClaimedPlayer): Promise<ClaimState> {
  const { serverId } = player;
  const key = usernameKey(player.username);
  const [listener, newest] = await Promise.all([
    deps.batcher.load(listenersLoader, deps.listeners, serverId),
    readNewestVotes(deps, { serverId, usernameKey: key }),
  ]);
  const since = after(deps.clock.now(), -COOLDOWN_MS);
  const { live, imported } = newest;
  const rewards = live ? rewardsOfVote(listener, live) : rewardsOf(listener);
  if (live && isClaimable(live, since)) {
    if (rewards === 'push' && isForListener(live, rewards)) return { kind: 'off', vote: null };
    return { kind: isRewarded(live, rewards) ? 'rewarded' : 'unclaimed', vote: live, rewards };
  }
  if (rewards === 'push') return { kind: 'off', vote: null };
  if (imported && isClaimable(imported, since)) return { kind: 'rewarded', vote: imported, rewards };
  return { kind: 'none', vote: null };
}

/** Without a further claim. With `both`, votes that the listener got can be claimed. `rewards`: of `rewardsOfVote`. */
export function isRewarded(vote: Pick<Vote, 'seq' | 'claim' | 'delivery'>, rewards: Rewards): boolean {
  // What happened after the backup is not known: a plugin may have claimed the vote.
  const isRestored = vote.delivery.events.some(({ kind }) => kind === 'restored');
  const isClaimed = isImported(vote) || Boolean(vote.claim) || isRestored;
  return isClaimed || isForListener(vote, rewards);
}

/** No listener gets these. If it does not reward, that includes votes that it refused. */
const UNSENT: Record<Exclude<Rewards, 'both'>, DeliveryState[]> = {
  push: ['none'],
  claims: ['none', 'failed'],
};

/** It may have got the vote. With `both`, no vote is for the listener alone. */
function isForListener({ delivery }: Pick<Vote, 'delivery'>, rewards: Rewards): boolean {
  if (rewards === 'both') return false;
  return !UNSENT[rewards].includes(delivery.state) || arrivalOf(delivery) !== 'surely-not';
}

/** `isForListener` is false. */
function notForListener(rewards: Rewards): Filter<Vote> {
  if (rewards === 'both') return {};
  return { 'delivery.state': { $in: UNSENT[rewards] }, ...withArrival('surely-not') };
}

function isClaimable({ votedAt, excludedAt, delivery }: Vote, since: Date): boolean {
  const released = delivery.events.findLast(({ kind }) => kind === 'released');
  return (released?.at ?? votedAt) > since && !excludedAt;
}

/** `claimed`: the player must be rewarded now. */
export type Claimed =
  | { kind: 'off' | 'none'; vote: null }
  /** `replayed`: by an earlier call with the same key. */
  | { kind: 'claimed'; vote: Vote; replayed: boolean }
  | { kind: 'claimed-before'; vote: Vote }
  /** The key was used for another player. */
  | { kind: 'key-reused'; vote: Vote };

/**
 * Claims a player's vote within the cooldown: one of several concurrent calls. The claim is durable before it is
 * returned. A repeated call with the same `key` and player gets its vote again, for `KEY_LIFETIME_MS`.
 *
 * @throws the driver's error: the vote may have been claimed
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
    // If somebody sends the vote to the listener at the same moment, only one of the two matches.
    { serverId, usernameKey: name, seq, ...unclaimed, ...notForListener(rewards) },
    { $set: { claim: { at: clock.now(), tokenId, ...(key === undefined ? {} : { key }) } } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (claimed) return { kind: 'claimed', vote: claimed, replayed: false };
  // Another call has just claimed the vote, it was sent to the listener, or an operator has excluded it.
  const vote = await votes.findOne({ serverId, usernameKey: name, seq });
  const isRewardedNow = vote && !vote.excludedAt && isRewarded(vote, rewards);
  return isRewardedNow ? rewardedEarlier(vote, key) : { kind: 'none', vote: null };
}

/** A plugin may send the same call twice at once. */
function rewardedEarlier(vote: Vote, key: string | undefined): Claimed {
  const isSameCall = key !== undefined && vote.claim?.key === key;
  return isSameCall ? { kind: 'claimed', vote, replayed: true } : { kind: 'claimed-before', vote };
}

function findByKey({ votes, clock }: VotesDeps, serverId: ObjectId, key: string) {
  return votes.findOne({
    serverId,
    'claim.key': key,
    'claim.at': { $gt: after(clock.now(), -KEY_LIFETIME_MS) },
  });
}

/**
 * Writes the key of an earlier claim again, durably: a failover could roll back the claim that was read, and the player
 * would be rewarded twice. False when a failover has removed it.
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
