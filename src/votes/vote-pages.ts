import type { Collection, Filter, ObjectId } from 'mongodb';
import { isSelected, selected, type VoteSelection } from './sent-not-confirmed.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

/** How many votes a page has, unless `limit` is given. */
export const VOTES_A_PAGE = 50;

/** If a cursor says that more votes than this have the same time: these votes are counted before they are skipped. */
const MOST_SKIPPED_UNCHECKED = 1_000;

/** A filter for a server's votes; an absent field does not filter. */
export type VotesWanted = {
  state?: VoteSelection | undefined;
  /** A player's name, in any spelling. */
  player?: string | undefined;
  /** Only votes cast at `since` or later, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  /** The most votes of a page; by default `VOTES_A_PAGE`. */
  limit?: number | undefined;
};

/**
 * Where a page of votes begins: with the votes cast at `at`, except the `seen` ones that earlier pages contained. If
 * the list is of one player: with the vote whose number is next below `seq`.
 */
export type VotesCursor = { at: Date; seen: number } | { seq: number };

/** One page of votes, newest first. Each vote has only its newest attempt. */
export type VotesPage = {
  votes: Vote[];
  /** Where the next page begins; null on the last one. */
  next: VotesCursor | null;
};

const IN_SHORT = {
  serverId: 1,
  source: 1,
  username: 1,
  identity: 1,
  seq: 1,
  votedAt: 1,
  excludedAt: 1,
  quarantinedAt: 1,
  'delivery.state': 1,
  'delivery.nextAt': 1,
  'delivery.deliveredAt': 1,
  'delivery.attemptCount': 1,
  'delivery.attempts': { $slice: -1 },
  'delivery.events': 1,
  'delivery.restoredAt': 1,
} as const;

/**
 * Reads one page of a server's votes. Every filter uses an index. A list of one player's votes has a different kind of
 * cursor. If `from` is of the wrong kind, the first page is returned.
 */
export function pageOfVotes(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  wanted: VotesWanted,
  from?: VotesCursor,
): Promise<VotesPage> {
  const { player } = wanted;
  return player === undefined
    ? pageByTime(votes, serverId, wanted, from && 'at' in from ? from : undefined)
    : pageOfPlayer(votes, serverId, { ...wanted, player }, from && 'seq' in from ? from : undefined);
}

/**
 * A page begins at a time, not at an offset, so that votes that are cast meanwhile do not shift it. Only votes with
 * exactly that time are skipped.
 */
async function pageByTime(
  votes: Collection<Vote>,
  serverId: ObjectId,
  { state, since, until, limit = VOTES_A_PAGE }: VotesWanted,
  from: { at: Date; seen: number } | undefined,
): Promise<VotesPage> {
  const votedAt = {
    ...(since ? { $gte: since } : {}),
    ...(from ? { $lte: from.at } : until ? { $lt: until } : {}),
  };
  const ofState = { serverId, ...(state ? selected([state]) : {}) };
  const found = await votes
    .find({ ...ofState, ...(Object.keys(votedAt).length > 0 ? { votedAt } : {}) })
    .sort({ votedAt: -1 })
    .skip(from ? await skipped(votes, ofState, from) : 0)
    .limit(limit + 1)
    .project<Vote>(IN_SHORT)
    .toArray();
  const shown = found.slice(0, limit);
  return { votes: shown, next: found.length > limit ? nextCursor(shown, from) : null };
}

/**
 * How many votes to skip. A client can forge a cursor: a large `seen` is limited to the number of votes that the server
 * has with the time `at`.
 */
async function skipped(
  votes: Collection<Vote>,
  ofState: Filter<Vote>,
  { at, seen }: { at: Date; seen: number },
): Promise<number> {
  if (seen <= MOST_SKIPPED_UNCHECKED) return seen;
  return await votes.countDocuments({ ...ofState, votedAt: at }, { limit: seen });
}

function nextCursor(shown: Vote[], from: { at: Date; seen: number } | undefined): VotesCursor | null {
  const at = shown.at(-1)?.votedAt;
  if (!at) return null;
  const here = shown.filter(({ votedAt }) => votedAt.getTime() === at.getTime()).length;
  const before = from?.at.getTime() === at.getTime() ? from.seen : 0;
  return { at, seen: before + here };
}

/**
 * Reads a player's votes in the order of their numbers, so live votes come before imported ones. They are filtered by
 * state and time after the read, because no index covers player, state and time. A page may therefore have few votes or
 * none although the next page has some.
 */
async function pageOfPlayer(
  votes: Collection<Vote>,
  serverId: ObjectId,
  { player, state, since, until, limit = VOTES_A_PAGE }: VotesWanted & { player: string },
  from: { seq: number } | undefined,
): Promise<VotesPage> {
  const found = await votes
    .find({ serverId, usernameKey: usernameKey(player), ...(from ? { seq: { $lt: from.seq } } : {}) })
    .sort({ seq: -1 })
    .limit(limit + 1)
    .project<Vote>(IN_SHORT)
    .toArray();
  const read = found.slice(0, limit);
  const last = read.at(-1);
  return {
    votes: read.filter(
      (vote) =>
        (!state || isSelected(vote, state)) &&
        (!since || vote.votedAt >= since) &&
        (!until || vote.votedAt < until),
    ),
    next: found.length > limit && last ? { seq: last.seq } : null,
  };
}

/** The start of a page of votes as text: `1764230400000.3` or `seq12`. */
export function formatVotesCursor(from: VotesCursor): string {
  return 'seq' in from ? `seq${from.seq}` : `${from.at.getTime()}.${from.seen}`;
}

/** The reverse of `formatVotesCursor`; undefined for any other text. */
export function parseVotesCursor(text: string): VotesCursor | undefined {
  if (!/^(-?\d{1,15}\.\d{1,7}|seq-?\d{1,15})$/.test(text)) return undefined;
  if (text.startsWith('seq')) return { seq: Number(text.slice(3)) };
  const [at, seen] = text.split('.').map(Number);
  return { at: new Date(at ?? 0), seen: seen ?? 0 };
}
