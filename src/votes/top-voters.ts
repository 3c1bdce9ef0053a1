import type { Collection, ObjectId } from 'mongodb';
import { TtlCache } from '../platform/batching/ttl-cache.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { VotesDeps } from './deps.ts';
import { KEY_OF_NAMED_PLAYER } from './nameless.ts';
import type { Vote } from './vote.ts';
import { monthOf } from './vote-counts.ts';

export type TopVoter = {
  /** The name as in the newest vote of the month. */
  username: string;
  votes: number;
  lastVotedAt: Date;
};

/** In an answer of the API. */
export const MOST_TOP_VOTERS = 500;

/** In a list of `topVotersOfMonth`. */
export const MOST_LISTED_VOTERS = 1_000;

const CACHE_TTL_MS = MINUTE;
/** A list has at most about 200 KB. */
const MOST_CACHED_MONTHS = 200;
/** Callers have given up by then. */
const TIME_LIMIT_MS = 20 * SECOND;

/**
 * In a UTC month, `2026-11`. With equally many votes, the one whose last vote is older is first. Excluded votes and
 * removed names are left out. The query reads all votes of the server and month.
 */
export function topVoters(
  { votes, clock }: VotesDeps,
  serverId: ObjectId,
  limit: number,
  month: string = monthOf(clock.now()),
): Promise<TopVoter[]> {
  const start = new Date(`${month}-01T00:00:00.000Z`);
  const end = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  return votes
    .aggregate<TopVoter>(
      [
        {
          $match: {
            serverId,
            votedAt: { $gte: start, $lt: end, $lte: clock.now() },
            excludedAt: null,
            usernameKey: KEY_OF_NAMED_PLAYER,
          },
        },
        { $sort: { votedAt: 1 } },
        {
          $group: {
            _id: '$usernameKey',
            username: { $last: '$username' },
            votes: { $sum: 1 },
            lastVotedAt: { $last: '$votedAt' },
          },
        },
        { $sort: { votes: -1, lastVotedAt: 1, _id: 1 } },
        { $limit: limit },
        { $project: { _id: 0 } },
      ],
      { maxTimeMS: TIME_LIMIT_MS },
    )
    .toArray();
}

/** `running`: by a list's key, and by a server's id for its last read. */
type TopVoterLists = { cache: TtlCache<TopVoter[]>; running: Map<string, Promise<unknown>> };

/** A process may have several databases, such as in a test. */
const listsOf = new WeakMap<Collection<Vote>, TopVoterLists>();

/**
 * `topVoters`, cached for a minute. One aggregation a server at a time: it takes 0.3 s for 200,000 votes of 20,000
 * players in mongod's memory.
 */
export async function topVotersOfMonth(
  deps: VotesDeps,
  serverId: ObjectId,
  month: string,
  limit: number,
): Promise<TopVoter[]> {
  if (month > monthOf(deps.clock.now())) return [];
  const lists = listsFor(deps.votes);
  const server = serverId.toHexString();
  const key = `${server} ${month}`;
  const read = () =>
    lists.cache.read(key, () =>
      afterOthers(lists, server, () => topVoters(deps, serverId, MOST_LISTED_VOTERS, month)),
    );
  const cached = lists.cache.peek(key) ?? (await shared(lists, key, read));
  return (cached ?? []).slice(0, limit);
}

function listsFor(votes: Collection<Vote>): TopVoterLists {
  let lists = listsOf.get(votes);
  if (!lists) {
    lists = { cache: new TtlCache({ most: MOST_CACHED_MONTHS, ms: CACHE_TTL_MS }), running: new Map() };
    listsOf.set(votes, lists);
  }
  return lists;
}

function shared<T>({ running }: TopVoterLists, key: string, read: () => Promise<T>): Promise<T> {
  const present = running.get(key) as Promise<T> | undefined;
  if (present) return present;
  const started = read().finally(() => running.delete(key));
  running.set(key, started);
  return started;
}

/** Reads one after the other for each server, also after one that failed. */
function afterOthers<T>({ running }: TopVoterLists, server: string, read: () => Promise<T>): Promise<T> {
  const before = running.get(server) ?? Promise.resolve();
  const started = before.then(read, read);
  running.set(server, started);
  const forget = () => {
    if (running.get(server) === started) running.delete(server);
  };
  started.then(forget, forget);
  return started;
}
