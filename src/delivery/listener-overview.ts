import type { Collection, ObjectId } from 'mongodb';
import type { Server } from '../servers/server.ts';
import type { DeliveryState, Vote } from '../votes/vote.ts';
import { COUNTED_AT_MOST } from './count-votes.ts';
import { type ListenerReason, listenerReason } from './explanations.ts';
import { type Listener, type ListenerState, listenerState } from './listener.ts';
import type { OutcomeCode } from './outcomes.ts';

/** So many votes stand on one page. */
const VOTES_A_PAGE = 50;

/** Where a page of votes begins: after the `seen` votes of the moment `at` that stand on the pages before it. */
export type VotesFrom = { at: Date; seen: number };

/** A vote on its way to a listener, in short. */
export type VoteInShort = {
  id: string;
  username: string;
  votedAt: Date;
  state: DeliveryState;
  attempts: number;
  /** How the newest attempt ended; absent before the first end. */
  code?: OutcomeCode;
};

/** How a listener and its votes fare, for operators. Nothing secret, and of an HTTP listener's URL host and port only. */
export type ListenerOverview = {
  server: { id: string; name: string; slug: string; removed: boolean };
  listener: Pick<Listener, 'protocol' | 'host' | 'port' | 'breaker'> & {
    state: ListenerState;
    lastDeliveredAt: Date | null;
  };
  /** Why it is paused or unreachable; null when it is active. */
  reason: ListenerReason | null;
  /** Votes that wait, counted up to `COUNTED_AT_MOST`. */
  waiting: number;
  /** When the oldest of them was cast. */
  oldestWaiting: Date | null;
  /** Newest first. */
  votes: VoteInShort[];
  /** Where the next page begins; null on the last one. */
  next: VotesFrom | null;
};

type Reading = { listeners: Collection<Listener>; servers: Collection<Server>; votes: Collection<Vote> };

/**
 * Reads how a listener fares, with one page of its server's votes.
 *
 * @param page - `state`: votes of that state only; `from`: the `next` of the page before
 * @returns null when there is no such listener: it was removed
 */
export async function listenerOverview(
  { listeners, servers, votes }: Reading,
  listenerId: ObjectId,
  page: { state?: DeliveryState | undefined; from?: VotesFrom | undefined } = {},
): Promise<ListenerOverview | null> {
  const listener = await listeners.findOne(
    { _id: listenerId },
    { projection: { sealedSecret: 0, previousSecret: 0, url: 0, lease: 0 } },
  );
  if (!listener) return null;
  const { serverId, protocol, host, port, breaker, lastDeliveredAt = null } = listener;
  const waiting = { serverId, 'delivery.state': 'waiting' as const };
  const [server, count, oldest, shown] = await Promise.all([
    servers.findOne({ _id: serverId }, { projection: { name: 1, slug: 1, removedAt: 1 } }),
    votes.countDocuments(waiting, { limit: COUNTED_AT_MOST }),
    votes.findOne(waiting, { sort: { votedAt: 1 }, projection: { votedAt: 1 } }),
    pageOfVotes(votes, serverId, page),
  ]);
  return {
    server: {
      id: serverId.toHexString(),
      name: server?.name ?? '',
      slug: server?.slug ?? '',
      removed: !server || !!server.removedAt,
    },
    listener: { protocol, host, port, breaker, lastDeliveredAt, state: listenerState(listener) },
    reason: listenerReason(listener),
    waiting: count,
    oldestWaiting: oldest?.votedAt ?? null,
    ...shown,
  };
}

/**
 * One page of a server's votes. A page begins at a moment, not at a number: votes that are cast meanwhile move
 * nothing, and only those of the very same moment are read past.
 */
async function pageOfVotes(
  votes: Collection<Vote>,
  serverId: ObjectId,
  { state, from }: { state?: DeliveryState | undefined; from?: VotesFrom | undefined },
): Promise<Pick<ListenerOverview, 'votes' | 'next'>> {
  const found = await votes
    .find({
      serverId,
      ...(state ? { 'delivery.state': state } : {}),
      ...(from ? { votedAt: { $lte: from.at } } : {}),
    })
    .sort({ votedAt: -1 })
    .skip(from?.seen ?? 0)
    .limit(VOTES_A_PAGE + 1)
    .project<Vote>({
      username: 1,
      votedAt: 1,
      'delivery.state': 1,
      'delivery.attemptCount': 1,
      'delivery.attempts': { $slice: -1 },
    })
    .toArray();
  const shown = found.slice(0, VOTES_A_PAGE);
  return {
    votes: shown.map(inShort),
    next: found.length > VOTES_A_PAGE ? endOf(shown, from) : null,
  };
}

function inShort({ _id, username, votedAt, delivery }: Vote): VoteInShort {
  const code = delivery.attempts.at(-1)?.code;
  return {
    id: _id.toString(),
    username,
    votedAt,
    state: delivery.state,
    attempts: delivery.attemptCount,
    ...(code ? { code } : {}),
  };
}

function endOf(shown: Vote[], from: VotesFrom | undefined): VotesFrom | null {
  const at = shown.at(-1)?.votedAt;
  if (!at) return null;
  const here = shown.filter(({ votedAt }) => votedAt.getTime() === at.getTime()).length;
  const before = from?.at.getTime() === at.getTime() ? from.seen : 0;
  return { at, seen: before + here };
}
