import type { Challenge } from 'altcha-lib';
import type { Collection, UUID, WithId } from 'mongodb';
import type { Config } from '../../platform/config.ts';
import type { RateLimit } from '../../platform/limits/rate-limit.ts';
import type { Server } from '../../servers/server.ts';
import type { BlockList } from '../blocks/block-list.ts';
import type { Refused, VoteCasting } from '../cast-vote.ts';
import type { OnceDeps } from '../cast-vote-once.ts';
import { blockingVotes, nextVoteAt } from '../cooldown.ts';
import { newestVotesLoader } from '../newest-votes.ts';
import { openQuarantine } from '../quarantine.ts';
import { submitVote } from '../submit-vote.ts';
import { usernameKey } from '../username.ts';
import type { VoteExclusion } from '../vote-exclusion.ts';
import { makeChallenge, type ProofError, type UsedProof, useProof } from './proof-of-work.ts';
import { whySuspicious } from './suspicion.ts';
import {
  originOf,
  originsToday,
  playerHash,
  useOrigins,
  type VoteOrigin,
  type Voter,
} from './vote-origin.ts';

/** The dependencies of the vote form. */
export type WebVoting = VoteCasting &
  OnceDeps & {
    voteExclusions: Collection<VoteExclusion>;
    voteOrigins: Collection<VoteOrigin>;
    blockList: BlockList;
    usedProofs: Collection<UsedProof>;
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
  | { kind: 'no-proof'; why: ProofError }
  /** The origin voted for the server as `most` other players today. */
  | { kind: 'too-many-players'; most: number }
  /** The name or the network is blocked; the answer does not say which. */
  | { kind: 'blocked' };

/** Why the vote form refused a vote, beside the errors of the API. The codes are stable: the JSON answer contains them. */
export type VoteFormError = ProofError | 'web-votes-off' | 'too-many-players' | 'vote-not-accepted';

/** Whether the vote form of a server works; else who switched it off. */
export function whyOff(
  { WEB_VOTES }: Pick<Config, 'WEB_VOTES'>,
  { webVotes }: Pick<Server, 'webVotes'>,
): 'operator' | 'owner' | null {
  if (WEB_VOTES === 'off') return 'operator';
  return webVotes === false ? 'owner' : null;
}

/**
 * The challenge that a visitor who is not signed in solves before the vote; or the refusal that the vote would get in any
 * case, so that nobody proves work in vain.
 */
export async function challengeFor(
  deps: WebVoting,
  { server, username, voter }: WebVote,
): Promise<
  | { kind: 'challenge'; challenge: Challenge }
  | Extract<WebVoteResult, { kind: 'off' | 'too-many-players' | 'blocked' }>
> {
  const off = whyOff(deps.config, server);
  if (off) return { kind: 'off', by: off };
  if (await isBlocked(deps, usernameKey(username), voter)) return { kind: 'blocked' };
  const origin = originOf(deps, voter);
  const subject = { serverId: server._id, player: playerHash(deps, usernameKey(username)), origin };
  const most = deps.config.WEB_VOTE_PLAYERS;
  const today = await originsToday(deps, voter, subject, most);
  if (!today.isAllowed) return { kind: 'too-many-players', most };
  return { kind: 'challenge', challenge: await makeChallenge(deps, subject, today.votes) };
}

/**
 * Casts a vote with the vote form, by the same rule as the API (`castVote`). A visitor proves some work for each vote. A
 * signed-in user needs no proof, and votes for a server as one player a day. A vote that looks unusual is quarantined.
 *
 * @param timeoutMs - milliseconds until the vote is no longer sent; the checks before it count
 * @throws what `submitVote` throws
 */
export async function castWebVote(
  deps: WebVoting,
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
  const origin = originOf(deps, voter);
  if (!voter.userId) {
    const why = await useProof(deps, { serverId, player, origin }, vote.proof);
    if (why) return { kind: 'no-proof', why };
  }

  const now = deps.clock.now();
  const newest = await deps.batcher.load(newestVotesLoader, deps.votes, { serverId, usernameKey: key });
  const [blocking] = blockingVotes(newest, now);
  // The cooldown is the answer even when a limit is used up as well.
  if (blocking) return { kind: 'refused', vote: blocking, nextVoteAt: nextVoteAt(blocking) };

  const most = voter.userId ? 1 : deps.config.WEB_VOTE_PLAYERS;
  const use = await useOrigins(deps, voter, { serverId, player }, most);
  if (!use.isAllowed) return { kind: 'too-many-players', most };
  const reason = await whySuspicious(deps, {
    server,
    // Excluded votes make nobody known: a bot of yesterday's quarantine is new again.
    isNew: [newest.live, newest.imported].every((vote) => !vote || vote.excludedAt),
    playersOfNetwork: voter.userId ? null : use.players,
  });
  const quarantineId = reason ? await openQuarantine(deps, serverId, reason) : undefined;

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
async function isBlocked({ blockList, clock }: WebVoting, key: string, { address }: Voter): Promise<boolean> {
  const now = clock.now();
  const block = (await blockList.findName(key, now)) ?? (await blockList.findNetwork(address, now));
  if (block) blockList.countHit(block, now);
  return block !== null;
}
