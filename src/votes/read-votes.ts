import type { Collection, Filter, ObjectId } from 'mongodb';
import type { VotesDeps } from './deps.ts';
import { isSelected, selected, type VoteSelection } from './sent-not-confirmed.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

export const VOTES_A_PAGE = 50;

/** More votes of the same time are counted before they are skipped. */
const MOST_SKIPPED_UNCHECKED = 1_000;

/** An absent field does not filter. */
export type VotesWanted = {
  state?: VoteSelection | undefined;
  /** In any spelling. */
  player?: string | undefined;
  /** From this moment, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  limit?: number | undefined;
};

/** By time: after the `seen` votes cast at `at`. Of one player: below `seq`. */
export type VotesCursor = { at: Date; seen: number } | { seq: number };

/** Votes have only `LISTED_FIELDS`, and their newest attempt. */
export type VotesPage = {
  votes: Vote[];
  next: VotesCursor | null;
};

const LISTED_FIELDS = {
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
  // For `arrivalOf`.
  'delivery.ends': 1,
  'delivery.codes': 1,
  'delivery.restoredAt': 1,
} as const;

/** Every query uses an index. A cursor of the wrong kind gives the first page. */
export function pageOfVotes(
  { votes }: VotesDeps,
  serverId: ObjectId,
  wanted: VotesWanted,
  cursor?: VotesCursor,
): Promise<VotesPage> {
  const { player } = wanted;
  return player === undefined
    ? pageByTime(votes, serverId, wanted, cursor && 'at' in cursor ? cursor : undefined)
    : pageOfPlayer(votes, serverId, { ...wanted, player }, cursor && 'seq' in cursor ? cursor : undefined);
}

/** By time, not by offset: votes that are cast meanwhile do not shift the pages. */
async function pageByTime(
  votes: Collection<Vote>,
  serverId: ObjectId,
  { state, since, until, limit = VOTES_A_PAGE }: VotesWanted,
  cursor: { at: Date; seen: number } | undefined,
): Promise<VotesPage> {
  // A cursor may be from a list with a later `until`.
  const start = cursor && until && cursor.at >= until ? undefined : cursor;
  const votedAt = {
    ...(since ? { $gte: since } : {}),
    ...(start ? { $lte: start.at } : until ? { $lt: until } : {}),
  };
  const ofState = { serverId, ...(state ? selected([state]) : {}) };
  const found = await votes
    .find({ ...ofState, ...(Object.keys(votedAt).length > 0 ? { votedAt } : {}) })
    .sort({ votedAt: -1 })
    .skip(start ? await skipped(votes, ofState, start) : 0)
    .limit(limit + 1)
    .project<Vote>(LISTED_FIELDS)
    .toArray();
  const shown = found.slice(0, limit);
  return { votes: shown, next: found.length > limit ? nextCursor(shown, start) : null };
}

/** A client can forge a cursor: a large `seen` is limited to the server's votes at that time. */
async function skipped(
  votes: Collection<Vote>,
  ofState: Filter<Vote>,
  { at, seen }: { at: Date; seen: number },
): Promise<number> {
  if (seen <= MOST_SKIPPED_UNCHECKED) return seen;
  return await votes.countDocuments({ ...ofState, votedAt: at }, { limit: seen });
}

function nextCursor(shown: Vote[], cursor: { at: Date; seen: number } | undefined): VotesCursor | null {
  const at = shown.at(-1)?.votedAt;
  if (!at) return null;
  const here = shown.filter(({ votedAt }) => votedAt.getTime() === at.getTime()).length;
  const before = cursor?.at.getTime() === at.getTime() ? cursor.seen : 0;
  return { at, seen: before + here };
}

/**
 * By number, so live votes come before imported ones. No index covers player, state and time together: they are
 * filtered after the read, and a page may have few votes or none although the next one has some.
 */
async function pageOfPlayer(
  votes: Collection<Vote>,
  serverId: ObjectId,
  { player, state, since, until, limit = VOTES_A_PAGE }: VotesWanted & { player: string },
  cursor: { seq: number } | undefined,
): Promise<VotesPage> {
  const found = await votes
    .find({ serverId, usernameKey: usernameKey(player), ...(cursor ? { seq: { $lt: cursor.seq } } : {}) })
    .sort({ seq: -1 })
    .limit(limit + 1)
    .project<Vote>(LISTED_FIELDS)
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

/** `1764230400000.3` or `seq12`. */
export function formatVotesCursor(cursor: VotesCursor): string {
  return 'seq' in cursor ? `seq${cursor.seq}` : `${cursor.at.getTime()}.${cursor.seen}`;
}

/** Undefined for any other text. */
export function parseVotesCursor(text: string): VotesCursor | undefined {
  if (!/^(-?\d{1,15}\.\d{1,7}|seq-?\d{1,15})$/.test(text)) return undefined;
  if (text.startsWith('seq')) return { seq: Number(text.slice(3)) };
  const [at, seen] = text.split('.').map(Number);
  return { at: new Date(at ?? 0), seen: seen ?? 0 };
}
