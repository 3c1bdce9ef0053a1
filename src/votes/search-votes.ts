import { type Collection, type Filter, type ObjectId, UUID } from 'mongodb';
import type { VotesDeps } from './deps.ts';
import type { VoteExclusion } from './exclusions/vote-exclusion.ts';
import { usernameKey } from './username.ts';
import { type Delivery, EXCLUDED_VOTES, type Vote } from './vote.ts';

/** An absent field does not filter. */
type VoteSearch = {
  serverId: ObjectId;
  /** A name in any spelling, or a vote's id. */
  player?: string | undefined;
  tokenId?: ObjectId | undefined;
  /** From this moment, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
};

/** Without attempts, which may be long. */
export type FoundVote = Pick<
  Vote,
  '_id' | 'serverId' | 'username' | 'seq' | 'votedAt' | 'source' | 'tokenId' | 'excludedAt' | 'excludedBy'
> & { delivery: Pick<Delivery, 'state'> };

/** `next` is null when all votes were searched. */
type FoundVotes = { votes: FoundVote[]; next: string | null };

const SHOWN = {
  serverId: 1,
  username: 1,
  seq: 1,
  votedAt: 1,
  source: 1,
  tokenId: 1,
  excludedAt: 1,
  excludedBy: 1,
  'delivery.state': 1,
} as const;

/** Read by one call and then filtered, if no index covers a search. */
const LOOKED_AT = 1_000;

/** Newest first. Only player or time alone have an index: a result may have few votes and still have a `next`. */
export async function searchVotes(
  { votes }: VotesDeps,
  search: VoteSearch,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<FoundVotes> {
  const { player } = search;
  if (player === undefined) return byTime(votes, search, from, limit);
  if (UUID.isValid(player)) {
    const vote = await votes.findOne<FoundVote>(
      { serverId: search.serverId, _id: new UUID(player) },
      { projection: SHOWN },
    );
    return { votes: vote && fits(vote, search) ? [vote] : [], next: null };
  }
  return ofPlayer(votes, search, player, from, limit);
}

const fits = ({ tokenId, votedAt }: FoundVote, search: VoteSearch) =>
  (!search.tokenId || search.tokenId.equals(tokenId ?? '')) &&
  (!search.since || votedAt >= search.since) &&
  (!search.until || votedAt < search.until);

/** Imported votes have a negative `seq`, so they are last. */
async function ofPlayer(
  votes: Collection<Vote>,
  search: VoteSearch,
  player: string,
  from: string | undefined,
  limit: number,
): Promise<FoundVotes> {
  const { serverId } = search;
  const before = /^-?\d{1,16}$/.test(from ?? '') ? { seq: { $lt: Number(from) } } : {};
  const all = votes
    .find<FoundVote>(
      { serverId, usernameKey: usernameKey(player), ...before },
      { batchSize: limit + 1, projection: SHOWN },
    )
    .sort({ seq: -1 })
    .limit((search.tokenId || search.since || search.until ? LOOKED_AT : limit) + 1);
  const end = await take(all, search, limit);
  return { votes: end.votes, next: end.last ? String(end.last.seq) : null };
}

async function byTime(votes: Collection<Vote>, search: VoteSearch, from: string | undefined, limit: number) {
  const { serverId, since } = search;
  const [, ms, skipped] = /^(\d{1,15})\.(\d{1,6})$/.exec(from ?? '') ?? [];
  const place = ms && skipped ? { at: new Date(Number(ms)), count: Number(skipped) } : null;
  const upTo = place ? { $lte: place.at } : search.until ? { $lt: search.until } : {};
  const votedAt = { ...(since ? { $gte: since } : {}), ...upTo };
  const filter: Filter<Vote> = { serverId, ...(Object.keys(votedAt).length > 0 ? { votedAt } : {}) };
  // With this index, votes of the same time are always in the same order, so `skip` is reliable.
  const all = votes
    .find<FoundVote>(filter, { batchSize: limit + 1, projection: SHOWN, hint: { serverId: 1, votedAt: 1 } })
    .sort({ votedAt: -1 })
    .skip(place?.count ?? 0)
    .limit((search.tokenId ? LOOKED_AT : limit) + 1);
  const end = await take(all, search, limit);
  if (!end.last) return { votes: end.votes, next: null };
  const at = end.last.votedAt.getTime();
  const sameTime = end.looked.filter(({ votedAt }) => votedAt.getTime() === at).length;
  const before = place?.at.getTime() === at ? place.count : 0;
  return { votes: end.votes, next: `${at}.${before + sameTime}` };
}

/** `last`: undefined if no votes follow. */
async function take(
  all: AsyncIterable<FoundVote>,
  search: VoteSearch,
  limit: number,
): Promise<{ votes: FoundVote[]; looked: FoundVote[]; last: FoundVote | undefined }> {
  const votes: FoundVote[] = [];
  const looked: FoundVote[] = [];
  for await (const vote of all) {
    if (votes.length === limit || looked.length === LOOKED_AT) return { votes, looked, last: looked.at(-1) };
    looked.push(vote);
    if (fits(vote, search)) votes.push(vote);
  }
  return { votes, looked, last: undefined };
}

/** `more`: there may be more than were counted. */
export type RangeCount = { votes: number; excluded: number; more: boolean };

/** A preview of an exclusion counts at most so many votes. */
const COUNTED = 50_000;

export async function countRange(
  { votes }: VotesDeps,
  {
    serverId,
    since,
    until,
    tokenId,
  }: { serverId: ObjectId; since: Date; until: Date; tokenId: ObjectId | null },
): Promise<RangeCount> {
  const cast = { serverId, votedAt: { $gte: since, $lt: until } };
  const under = { ...cast, excludedAt: { $gt: new Date(0) }, ...(tokenId ? { tokenId } : {}) };
  const [inRange, chosen, excluded] = await Promise.all([
    votes.countDocuments(cast, { limit: COUNTED }),
    tokenId ? countOfToken(votes, cast, tokenId) : null,
    votes.countDocuments(under, { hint: EXCLUDED_VOTES, limit: COUNTED }),
  ]);
  return { votes: chosen ?? inRange, excluded, more: inRange === COUNTED };
}

async function countOfToken(votes: Collection<Vote>, cast: Filter<Vote>, tokenId: ObjectId): Promise<number> {
  const counted = await votes
    .aggregate<{ votes: number }>([
      { $match: cast },
      { $sort: { votedAt: 1 } },
      { $limit: COUNTED },
      { $match: { tokenId } },
      { $count: 'votes' },
    ])
    .next();
  return counted?.votes ?? 0;
}

/** For an exclusion without its own `votes`: in progress, or of a block. At most `COUNTED`. */
export function countMarked(
  { votes }: VotesDeps,
  exclusion: Pick<VoteExclusion, '_id' | 'serverId' | 'since' | 'until' | 'isQuarantine'>,
): Promise<number> {
  const { _id, serverId, since, until, isQuarantine } = exclusion;
  // Held votes may be cast after `until`.
  const votedAt = { $gte: since, ...(isQuarantine ? {} : { $lt: until }) };
  return votes.countDocuments(
    { serverId, votedAt, excludedAt: { $gt: new Date(0) }, excludedBy: _id },
    { hint: EXCLUDED_VOTES, limit: COUNTED },
  );
}
