import type { Collection, ObjectId } from 'mongodb';
import { TtlCache } from '../platform/batching/ttl-cache.ts';
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import { NAMED } from './nameless.ts';
import type { Vote } from './vote.ts';
import { monthOf } from './vote-counts.ts';

/** A player and how often they voted. */
export type TopVoter = {
  /** The name as it is spelled in the player's newest vote. */
  username: string;
  votes: number;
  lastVotedAt: Date;
};

type Deps = { votes: Collection<Vote>; clock: Clock };

/** The largest number of voters that `topVotersOfMonth` returns. */
export const MOST_TOP_VOTERS = 500;

const CACHE_TTL_MS = MINUTE;
/** The most lists in the cache. One list has up to 500 voters, about 100 KB. */
const MOST_CACHED_MONTHS = 200;
/** If an aggregation takes longer, its caller has given up, so mongod stops it. */
const TIME_LIMIT_MS = 20 * SECOND;

/**
 * The players with the most votes for a server in a UTC month (`2026-11`, by default the current one), without excluded
 * votes and players whose name was removed. If two players have equally many votes: the one whose last vote is older is
 * first. Reads that month's votes of the server once, by their index.
 */
export function topVoters(
  { votes, clock }: Deps,
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
            usernameKey: NAMED,
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

/** The lists of one process. `running`: a list's running read by the list's key, a server's last read by its id. */
type Lists = { cache: TtlCache<TopVoter[]>; running: Map<string, Promise<unknown>> };

/** The lists by collection: a process with several databases, such as a test, has separate lists. */
const listsOf = new WeakMap<Collection<Vote>, Lists>();

/**
 * The same list as `topVoters`, cached for a minute; `limit` is 1 to 500. A process runs at most one aggregation per
 * server at a time, however many requests there are. It takes 0.3 s for 200,000 votes of 20,000 players, if they are in
 * mongod's memory. If the month has not begun: the list is empty and nothing is read.
 */
export async function topVotersOfMonth(
  deps: Deps,
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
      afterOthers(lists, server, () => topVoters(deps, serverId, MOST_TOP_VOTERS, month)),
    );
  const cached = lists.cache.peek(key) ?? (await shared(lists, key, read));
  return (cached ?? []).slice(0, limit);
}

function listsFor(votes: Collection<Vote>): Lists {
  let lists = listsOf.get(votes);
  if (!lists) {
    lists = { cache: new TtlCache({ most: MOST_CACHED_MONTHS, ms: CACHE_TTL_MS }), running: new Map() };
    listsOf.set(votes, lists);
  }
  return lists;
}

/** Returns the running read of `key`; starts one if none runs. */
function shared<T>({ running }: Lists, key: string, read: () => Promise<T>): Promise<T> {
  const present = running.get(key) as Promise<T> | undefined;
  if (present) return present;
  const started = read().finally(() => running.delete(key));
  running.set(key, started);
  return started;
}

/** Starts `read` when the earlier reads of this server have ended, even if they failed. */
function afterOthers<T>({ running }: Lists, server: string, read: () => Promise<T>): Promise<T> {
  const before = running.get(server) ?? Promise.resolve();
  const started = before.then(read, read);
  running.set(server, started);
  const forget = () => {
    if (running.get(server) === started) running.delete(server);
  };
  started.then(forget, forget);
  return started;
}
