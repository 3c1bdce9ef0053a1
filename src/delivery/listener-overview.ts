import type { Collection, ObjectId } from 'mongodb';
import { type Listener, type ListenerState, lastDelivery, listenerState } from '../listeners/listener.ts';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import type { Clock } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { isConfirmed, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import type { DeliveryState, Vote } from '../votes/vote.ts';
import { pageOfVotes, type VotesFrom } from '../votes/vote-pages.ts';
import { COUNTED_AT_MOST } from './count-votes.ts';
import { type ListenerReason, listenerReason } from './diagnosis/explanations.ts';
import { countSentNotConfirmed, countUnconfirmed } from './unconfirmed-votes.ts';

/** A vote on its way to a listener, in short. */
type VoteInShort = {
  id: string;
  username: string;
  votedAt: Date;
  state: DeliveryState;
  attempts: number;
  /** Whether the listener said that it took it; null unless delivered, and where that is not on record. */
  confirmed: boolean | null;
  /** How the newest attempt ended; absent before the first end. */
  code?: OutcomeCode;
};

/** How a listener and its votes fare, for operators. Nothing secret, and of an HTTP listener's URL host and port only. */
export type ListenerOverview = {
  server: { id: string; name: string; slug: string; removed: boolean };
  listener: Pick<Listener, 'protocol' | 'host' | 'port' | 'breaker'> & {
    state: ListenerState;
    lastDelivery: ReturnType<typeof lastDelivery>;
  };
  /** Why it is paused or unreachable; null when it is active. */
  reason: ListenerReason | null;
  /** Votes that wait, counted up to `COUNTED_AT_MOST`. */
  waiting: number;
  /** Votes that were given up without an answer, counted as far. */
  unconfirmed: number;
  /** Delivered votes that a Votifier v1 listener did not confirm, counted as far. */
  sentNotConfirmed: number;
  /** When the oldest of them was cast. */
  oldestWaiting: Date | null;
  /** Newest first. */
  votes: VoteInShort[];
  /** Where the next page begins; null on the last one. */
  next: VotesFrom | null;
};

type Reading = {
  listeners: Collection<Listener>;
  servers: Collection<Server>;
  votes: Collection<Vote>;
  clock: Clock;
};

/**
 * Reads how a listener fares, with one page of its server's votes.
 *
 * @param page - `state`: votes of that state only; `from`: the `next` of the page before
 * @returns null when there is no such listener: it was removed
 */
export async function listenerOverview(
  { listeners, servers, votes, clock }: Reading,
  listenerId: ObjectId,
  page: { state?: VoteSelection | undefined; from?: VotesFrom | undefined } = {},
): Promise<ListenerOverview | null> {
  const listener = await listeners.findOne(
    { _id: listenerId },
    { projection: { sealedSecret: 0, previousSecret: 0, url: 0, lease: 0 } },
  );
  if (!listener) return null;
  const { serverId, protocol, host, port, breaker } = listener;
  const waiting = { serverId, 'delivery.state': 'waiting' as const };
  const [server, count, unconfirmed, sentNotConfirmed, oldest, shown] = await Promise.all([
    servers.findOne({ _id: serverId }, { projection: { name: 1, slug: 1, removedAt: 1 } }),
    votes.countDocuments(waiting, { limit: COUNTED_AT_MOST }),
    countUnconfirmed({ votes, clock }, serverId, COUNTED_AT_MOST),
    countSentNotConfirmed({ votes, clock }, serverId, COUNTED_AT_MOST),
    votes.findOne(waiting, { sort: { votedAt: 1 }, projection: { votedAt: 1 } }),
    pageOfVotes({ votes }, serverId, { state: page.state }, page.from),
  ]);
  return {
    server: {
      id: serverId.toHexString(),
      name: server?.name ?? '',
      slug: server?.slug ?? '',
      removed: !server || !!server.removedAt,
    },
    listener: {
      protocol,
      host,
      port,
      breaker,
      state: listenerState(listener),
      lastDelivery: lastDelivery(listener),
    },
    reason: listenerReason(listener),
    waiting: count,
    unconfirmed,
    sentNotConfirmed,
    oldestWaiting: oldest?.votedAt ?? null,
    votes: shown.votes.map(inShort),
    next: shown.next,
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
    confirmed: isConfirmed(delivery),
    ...(code ? { code } : {}),
  };
}
