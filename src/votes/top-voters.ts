import type { Collection, ObjectId } from 'mongodb';
import { TtlCache } from '../platform/batching/ttl-cache.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { VotesDeps } from './deps.ts';
import { KEY_OF_NAMED_PLAYER } from './nameless.ts';
import type { Vote } from './vote.ts';
import { monthOf } from './vote-counts.ts';

export type TopVoter = {
  /** In the spelling of the player's newest vote of the month. */
  username: string;
  votes: number;
  lastVotedAt: Date;
};

export const MOST_TOP_VOTERS = 500;

const CACHE_TTL_MS = MINUTE;
/** The most lists in the cache. A list has up to 500 voters, about 100 KB. */
const MOST_CACHED_MONTHS = 200;
/** mongod stops an aggregation after this time, because its callers have given up by then. */
const TIME_LIMIT_MS = 20 * SECOND;

/**
 * The players with the most votes for a server in a UTC month (`2026-11`, by default the current one). If two have
 * equally many votes: the one whose last vote is older is first. Excluded votes and players whose name was removed are
 * left out. The query reads all votes of the server and month.
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

/** `running` maps a list's key to its running read, and a server's id to the server's last read. */
type TopVoterLists = { cache: TtlCache<TopVoter[]>; running: Map<string, Promise<unknown>> };

/** One entry for each collection, because a process may have several databases, such as in a test. */
const listsOf = new WeakMap<Collection<Vote>, TopVoterLists>();

/**
 * The same list as `topVoters`, cached for a minute; `limit` is 1 to 500. Empty for a month that has not begun. A
 * process runs at most one aggregation per server at a time. It takes 0.3 s for 200,000 votes of 20,000 players, if
 * these are in mongod's memory.
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
      afterOthers(lists, server, () => topVoters(deps, serverId, MOST_TOP_VOTERS, month)),
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

/** Calls `read` after the earlier reads of this server, even if they failed. */
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
