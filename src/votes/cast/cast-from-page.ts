import type { Challenge } from 'altcha-lib';
import type { ObjectId, UUID, WithId } from 'mongodb';
import type { Config } from '../../platform/config.ts';
import { type Pausable, pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import type { VotesDeps } from '../deps.ts';
import { openQuarantine } from '../exclusions/quarantine.ts';
import { needsProvenId } from '../identity/steam-players.ts';
import { usernameKey } from '../username.ts';
import { MOST_SERVERS_OF_ACCOUNT, MOST_VOTES, networkLimits } from '../web/network-limits.ts';
import {
  networkKeys,
  type Origin,
  originsOf,
  playerHash,
  sessionKey,
  type Voter,
} from '../web/origin-keys.ts';
import { makeChallenge, type ProofOfWorkError, useProofOfWork } from '../web/proof-of-work.ts';
import { isReturning, noteReturning } from '../web/returning-players.ts';
import { whySuspicious } from '../web/suspicion.ts';
import { type OriginRefusal, originsToday, type PlayerStatus, useOrigins } from '../web/vote-origin.ts';
import { type CastDeadline, castWithinDeadline } from './cast-deadline.ts';
import { castVote, type Refused, refusedBy } from './cast-vote.ts';
import { type Cooldown, readCooldown, readNewestVotes } from './cooldown.ts';

export type PageVote = {
  server: WithId<Server>;
  /** See `usernameSchema`. */
  username: string;
  voter: Voter;
  /** Confirmed by Steam for the browser. */
  provenId?: string | null;
  /** The secret that the form's script made for this vote; empty without a script. */
  session?: string;
};

type PageRefusal =
  | Refused
  | { kind: 'off'; by: 'operator' | 'owner' }
  | { kind: 'listing-paused' }
  | { kind: 'no-proof'; why: ProofOfWorkError }
  /** The owner takes only SteamIDs that Steam confirmed. */
  | { kind: 'not-proven' }
  /** `most`: players for this server, or votes for all, on a UTC day. For `votes-of-network`: `MOST_VOTES.all`. */
  | { kind: 'too-many-players'; by: OriginRefusal; most: number }
  /** The answer does not say whether the name or the network is. */
  | { kind: 'blocked' };

/** The part of a server that decides whether its vote form works. */
export type VoteFormState = Pick<Server, 'webVotes'> & Pick<Pausable, 'listingPause'>;

export type PageVoteResult =
  /** `isQuarantined`: neither counted nor delivered until an operator decides. */
  { kind: 'accepted'; voteId: UUID; isQuarantined: boolean } | PageRefusal;

/** Null if the vote form works. */
export function whyOff(
  { WEB_VOTES }: Pick<Config, 'WEB_VOTES'>,
  { webVotes, listingPause }: VoteFormState,
  now: Date,
): 'operator' | 'owner' | 'pause' | null {
  if (pauseAt({ listingPause }, now)) return 'pause';
  if (WEB_VOTES === 'off') return 'operator';
  return webVotes === false ? 'owner' : null;
}

/**
 * If the vote would be refused even with a proof, the visitor's device need not compute one. The cooldown is not
 * checked.
 */
export async function challengeFor(
  deps: VotesDeps,
  { server, username, voter, provenId, session = '' }: PageVote,
): Promise<
  | { kind: 'challenge'; challenge: Challenge }
  | Extract<
      PageVoteResult,
      { kind: 'off' | 'listing-paused' | 'not-proven' | 'too-many-players' | 'blocked' }
    >
> {
  const off = refusedAsOff(deps, server);
  if (off) return off;
  if (needsProvenId(deps.config, server) && provenId !== username) return { kind: 'not-proven' };
  const key = usernameKey(username);
  if (await isBlocked(deps, key, voter)) return { kind: 'blocked' };
  const player = playerHash(deps, key);
  const serverId = server._id;
  const playerStatus = await playerStatusOf(deps, voter, player);
  const subject = { serverId, player, playerStatus };
  const today = await originsToday(deps, voter, subject, networkLimits(deps.config));
  if (today.refusedBy) return tooMany(deps, today.refusedBy);
  const bound = { serverId, player, ...boundTo(deps, voter, session) };
  return { kind: 'challenge', challenge: await makeChallenge(deps, bound, today.votes) };
}

function refusedAsOff(
  { config, clock }: VotesDeps,
  server: Server,
): Extract<PageVoteResult, { kind: 'off' | 'listing-paused' }> | null {
  const off = whyOff(config, server, clock.now());
  return off === 'pause' ? { kind: 'listing-paused' } : off && { kind: 'off', by: off };
}

/** Besides the server and the player. */
function boundTo(deps: VotesDeps, { address }: Voter, session: string) {
  return {
    session: session && sessionKey(deps, session),
    origins: originsOf(deps, { address, account: null }),
  };
}

async function playerStatusOf(
  deps: VotesDeps,
  { address, account }: Voter,
  player: string,
): Promise<PlayerStatus> {
  if (account) return 'established';
  return (await isReturning(deps, address, player)) ? 'returning' : 'new';
}

function tooMany(
  { config }: VotesDeps,
  by: OriginRefusal,
): Extract<PageVoteResult, { kind: 'too-many-players' }> {
  const { newPlayers, players } = networkLimits(config);
  return {
    kind: 'too-many-players',
    by,
    most: {
      account: 1,
      'new-players': newPlayers,
      network: players,
      'votes-of-account': MOST_SERVERS_OF_ACCOUNT,
      'votes-of-network': MOST_VOTES.all,
    }[by],
  };
}

/**
 * The cooldown is that of the API (`castVote`); in addition, a voter without an established account sends a proof of
 * work, and each vote counts in the daily limits of its network. The limit for new players does not apply to an
 * established account, but it can vote for a server as only one player a day. An unusual vote is quarantined.
 *
 * If the process dies before the vote is cast, the player already counts in the limits of the day; a second vote of the
 * same player does not count again. Throws as `castVoteFromApi`.
 */
export async function castVoteFromPage(
  deps: VotesDeps,
  { proof, ...vote }: PageVote & { proof: string | undefined },
  deadline: CastDeadline,
): Promise<PageVoteResult> {
  const key = usernameKey(vote.username);
  const checked = await deadline.wait(checkPageVote(deps, { ...vote, usernameKey: key, proof }));
  if (checked.kind !== 'checked') return checked;
  const { cooldown, quarantineId } = checked;
  const { username, server } = vote;
  const isProven = vote.provenId === username;
  const request = { serverId: server._id, username, usernameKey: key, tokenId: null, isProven, cooldown };
  return castWithinDeadline(deps, server._id, deadline, async () => {
    const cast = await castVote(deps, quarantineId ? { ...request, quarantineId } : request, deadline);
    if (cast.kind === 'refused') return cast;
    return { kind: 'accepted', voteId: cast.vote._id, isQuarantined: quarantineId !== null };
  });
}

type Checked = { kind: 'checked'; cooldown: Cooldown; quarantineId: ObjectId | null };

/** If the cooldown runs and a limit is reached too, the refusal names the cooldown. */
async function checkPageVote(
  deps: VotesDeps,
  vote: PageVote & { usernameKey: string; proof: string | undefined },
): Promise<Checked | PageRefusal> {
  const { server, voter, usernameKey: key, session = '' } = vote;
  const off = refusedAsOff(deps, server);
  if (off) return off;
  if (needsProvenId(deps.config, server) && vote.provenId !== vote.username) return { kind: 'not-proven' };
  if (await isBlocked(deps, key, voter)) return { kind: 'blocked' };
  const serverId = server._id;
  const player = playerHash(deps, key);
  let elsewhere: Origin[] = [];
  if (!voter.account) {
    const subject = { serverId, player, ...boundTo(deps, voter, session) };
    const proof = await useProofOfWork(deps, subject, vote.proof);
    if (typeof proof === 'string') return { kind: 'no-proof', why: proof };
    elsewhere = proof.elsewhere;
  }
  const cooldown = await readCooldown(deps, { serverId, usernameKey: key }, deps.clock.now());
  const [blocking] = cooldown.blocking;
  if (blocking) return refusedBy(blocking);
  const limits = networkLimits(deps.config);
  const playerStatus = await playerStatusOf(deps, voter, player);
  const use = await useOrigins(deps, voter, { serverId, player, playerStatus }, limits, elsewhere);
  if (use.refusedBy) return tooMany(deps, use.refusedBy);
  // An imported vote behind an excluded one counts here at any age.
  const { live, imported } = cooldown.newest.live?.excludedAt
    ? await readNewestVotes(deps, { serverId, usernameKey: key })
    : cooldown.newest;
  const suspicion = await whySuspicious(deps, {
    server,
    voter,
    playerStatus,
    // A player whose newest votes are excluded, such as a bot's, counts as new.
    isNew: [live, imported].every((earlier) => !earlier || earlier.excludedAt),
    newPlayersOfNetwork: use.newPlayers,
    limits,
  });
  const quarantineId = suspicion ? await openQuarantine(deps, serverId, suspicion.reason, suspicion) : null;
  // Otherwise one account could vote under another name for each server, and these names would later count as
  // returning players without the account.
  if (!quarantineId && !voter.account) await noteReturning(deps, voter.address, player);
  return { kind: 'checked', cooldown, quarantineId };
}

/** For signed-in users too. Counts a hit of the block. */
async function isBlocked(deps: VotesDeps, key: string, { address }: Voter): Promise<boolean> {
  const { blockList, clock } = deps;
  const now = clock.now();
  const block =
    (await blockList.findName(key, now)) ??
    (await blockList.findNetwork(address, now)) ??
    (await blockList.findOrigin(() => networkKeys(deps, address), now));
  if (block) blockList.countHit(block, now);
  return block !== null;
}
