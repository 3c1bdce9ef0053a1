import type { Challenge } from 'altcha-lib';
import type { Collection, UUID, WithId } from 'mongodb';
import type { Config } from '../../platform/config.ts';
import type { RateLimit } from '../../platform/limits/rate-limit.ts';
import type { Server } from '../../servers/server.ts';
import type { BlockList } from '../blocks/block-list.ts';
import type { CastDeps, Refused } from '../cast-vote.ts';
import type { OnceDeps } from '../cast-vote-once.ts';
import { blockingVotes, nextVoteAt } from '../cooldown.ts';
import { newestVotesLoader } from '../newest-votes.ts';
import { openQuarantine } from '../quarantine.ts';
import { submitVote } from '../submit-vote.ts';
import { usernameKey } from '../username.ts';
import type { VoteExclusion } from '../vote-exclusion.ts';
import { networkLimits } from './network-limits.ts';
import { networkKey, networkKeys, playerHash, type Voter } from './origin-keys.ts';
import {
  makeChallenge,
  type ProofOfWorkError,
  type UsedProofOfWork,
  useProofOfWork,
} from './proof-of-work.ts';
import { isReturning, noteReturning, type ReturningPlayer } from './returning-players.ts';
import { whySuspicious } from './suspicion.ts';
import {
  type OriginRefusal,
  originsToday,
  type PlayerStatus,
  useOrigins,
  type VoteOrigin,
} from './vote-origin.ts';

/** The dependencies of the vote form. */
export type WebVoteDeps = CastDeps &
  OnceDeps & {
    voteExclusions: Collection<VoteExclusion>;
    voteOrigins: Collection<VoteOrigin>;
    returningPlayers: Collection<ReturningPlayer>;
    blockList: BlockList;
    usedProofs: Collection<UsedProofOfWork>;
    rateLimits: Collection<RateLimit>;
    config: Pick<Config, 'WEB_VOTES' | 'WEB_VOTE_PLAYERS'> & { SECRET_KEY: string };
  };

/** A vote that is about to be cast with the vote form. */
export type WebVote = {
  server: WithId<Server>;
  /** As `usernameSchema` gives it. */
  username: string;
  voter: Voter;
};

export type WebVoteResult =
  /** `isQuarantined`: it is neither counted nor delivered until an operator decides. */
  | { kind: 'accepted'; voteId: UUID; isQuarantined: boolean }
  | Refused
  /** The vote form is switched off. */
  | { kind: 'off'; by: 'operator' | 'owner' }
  | { kind: 'no-proof'; why: ProofOfWorkError }
  /** The account, or the network, voted for the server as `most` other players today. */
  | { kind: 'too-many-players'; by: OriginRefusal; most: number }
  /** The name or the network is blocked; the answer does not say which. */
  | { kind: 'blocked' };

/** Why the vote form refused a vote, beside the errors of the API. The codes are stable: the JSON answer contains them. */
export type VoteFormError = ProofOfWorkError | 'web-votes-off' | 'too-many-players' | 'vote-not-accepted';

/** Whether the vote form of a server works; else who switched it off. */
export function whyOff(
  { WEB_VOTES }: Pick<Config, 'WEB_VOTES'>,
  { webVotes }: Pick<Server, 'webVotes'>,
): 'operator' | 'owner' | null {
  if (WEB_VOTES === 'off') return 'operator';
  return webVotes === false ? 'owner' : null;
}

/**
 * The challenge that a visitor without an established account solves before the vote; or the refusal that the vote would get in any
 * case, so that nobody proves work in vain.
 */
export async function challengeFor(
  deps: WebVoteDeps,
  { server, username, voter }: WebVote,
): Promise<
  | { kind: 'challenge'; challenge: Challenge }
  | Extract<WebVoteResult, { kind: 'off' | 'too-many-players' | 'blocked' }>
> {
  const off = whyOff(deps.config, server);
  if (off) return { kind: 'off', by: off };
  if (await isBlocked(deps, usernameKey(username), voter)) return { kind: 'blocked' };
  const player = playerHash(deps, usernameKey(username));
  const serverId = server._id;
  const playerStatus = await playerStatusOf(deps, voter, player);
  const today = await originsToday(
    deps,
    voter,
    { serverId, player, playerStatus },
    networkLimits(deps.config),
  );
  if (today.refusedBy) return tooMany(deps, today.refusedBy);
  const subject = { serverId, player, origin: networkKey(deps, voter.address) };
  return { kind: 'challenge', challenge: await makeChallenge(deps, subject, today.votes) };
}

/** What speaks for a player who votes on a page. */
async function playerStatusOf(
  deps: WebVoteDeps,
  { address, account }: Voter,
  player: string,
): Promise<PlayerStatus> {
  if (account) return 'established';
  return (await isReturning(deps, address, player)) ? 'returning' : 'new';
}

function tooMany(
  { config }: Pick<WebVoteDeps, 'config'>,
  by: OriginRefusal,
): Extract<WebVoteResult, { kind: 'too-many-players' }> {
  const { newPlayers, players } = networkLimits(config);
  return {
    kind: 'too-many-players',
    by,
    most: { account: 1, 'new-players': newPlayers, network: players }[by],
  };
}

/**
 * Casts a vote with the vote form, by the same rule as the API (`castVote`). Each vote counts against its network. A voter
 * without an established account proves some work; an established account votes for a server as one player a day, and has
 * more room on its network. A vote that looks unusual is quarantined.
 *
 * If the process dies before the vote is cast, its place in the limits of the day stays used, and the same player may use
 * it again.
 *
 * @param timeoutMs - milliseconds until the vote is no longer sent; the checks before it count
 * @throws what `submitVote` throws
 */
export async function castWebVote(
  deps: WebVoteDeps,
  vote: WebVote & { proof: string | undefined },
  timeoutMs: number,
): Promise<WebVoteResult> {
  const began = performance.now();
  const { server, username, voter } = vote;
  const off = whyOff(deps.config, server);
  if (off) return { kind: 'off', by: off };
  const serverId = server._id;
  const key = usernameKey(username);
  if (await isBlocked(deps, key, voter)) return { kind: 'blocked' };
  const player = playerHash(deps, key);
  if (!voter.account) {
    const subject = { serverId, player, origin: networkKey(deps, voter.address) };
    const why = await useProofOfWork(deps, subject, vote.proof);
    if (why) return { kind: 'no-proof', why };
  }

  const now = deps.clock.now();
  const newest = await deps.batcher.load(newestVotesLoader, deps.votes, { serverId, usernameKey: key });
  const [blocking] = blockingVotes(newest, now);
  // The cooldown is the answer even when a limit is used up as well.
  if (blocking) return { kind: 'refused', vote: blocking, nextVoteAt: nextVoteAt(blocking) };

  const limits = networkLimits(deps.config);
  const playerStatus = await playerStatusOf(deps, voter, player);
  const use = await useOrigins(deps, voter, { serverId, player, playerStatus }, limits);
  if (use.refusedBy) return tooMany(deps, use.refusedBy);
  const suspicion = await whySuspicious(deps, {
    server,
    voter,
    playerStatus,
    // Excluded votes make nobody known: a bot of yesterday's quarantine is new again.
    isNew: [newest.live, newest.imported].every((vote) => !vote || vote.excludedAt),
    newPlayersOfNetwork: use.newPlayers,
    limits,
  });
  const quarantineId = suspicion
    ? await openQuarantine(deps, serverId, suspicion.reason, suspicion)
    : undefined;
  if (!quarantineId) await noteReturning(deps, voter.address, player);

  const request = { serverId, username, tokenId: null, key: undefined };
  const submitted = await submitVote(
    deps,
    { ...request, ...(quarantineId ? { quarantineId } : {}) },
    timeoutMs - (performance.now() - began),
  );
  if (submitted.kind === 'refused') return submitted;
  if (submitted.kind === 'key-reused') throw new Error('a vote without a key cannot reuse one');
  return { kind: 'accepted', voteId: submitted.voteId, isQuarantined: quarantineId !== undefined };
}

/** Whether an operator blocked the player's name or the network, for signed-in users too. Counts a hit. */
async function isBlocked(deps: WebVoteDeps, key: string, { address }: Voter): Promise<boolean> {
  const { blockList, clock } = deps;
  const now = clock.now();
  const block =
    (await blockList.findName(key, now)) ??
    (await blockList.findNetwork(address, now)) ??
    (await blockList.findOrigin(() => networkKeys(deps, address), now));
  if (block) blockList.countHit(block, now);
  return block !== null;
}
