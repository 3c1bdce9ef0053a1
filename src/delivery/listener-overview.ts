import type { ObjectId } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import { type ListenerState, lastDelivery, listenerState } from '../listeners/listener-state.ts';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import { pageOfVotes, type VotesCursor } from '../votes/read-votes.ts';
import { isConfirmed, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import type { DeliveryState, Vote } from '../votes/vote.ts';
import { COUNTED_AT_MOST } from './count-votes.ts';
import type { DeliveryDeps } from './deps.ts';
import { type ListenerReason, listenerReason } from './diagnosis/listener-reason.ts';
import { countSentNotConfirmed, countUnconfirmed } from './unconfirmed-votes.ts';

type VoteInShort = {
  id: string;
  username: string;
  votedAt: Date;
  state: DeliveryState;
  attempts: number;
  /** Whether the listener acknowledged it; null if the vote is not delivered, or if that is not on record. */
  confirmed: boolean | null;
  /** The outcome of the newest attempt; absent if none is stored. */
  code?: OutcomeCode;
};

/** The state of a listener and its votes, for operators. Secrets and the URL are left out: a URL may contain a key. */
export type ListenerOverview = {
  server: { id: string; name: string; slug: string; removed: boolean };
  listener: Pick<Listener, 'protocol' | 'host' | 'port' | 'breaker'> & {
    state: ListenerState;
    lastDelivery: ReturnType<typeof lastDelivery>;
  };
  /** Why the listener is paused or unreachable; null if it is neither. */
  reason: ListenerReason | null;
  /** Waiting votes, counted up to `COUNTED_AT_MOST`. */
  waiting: number;
  /** Unconfirmed votes that can still be resent, counted up to `COUNTED_AT_MOST`. */
  unconfirmed: number;
  /** Delivered votes with the outcome `sent-not-confirmed` that can still be resent, counted in the same way. */
  sentNotConfirmed: number;
  /** When the oldest waiting vote was cast. */
  oldestWaiting: Date | null;
  /** Newest first. */
  votes: VoteInShort[];
  /** The position where the next page begins; null on the last page. */
  next: VotesCursor | null;
};

/**
 * Reads the state of a listener, with one page of its server's votes.
 *
 * @param page - `state`: only votes in that state; `from`: the `next` of the page before
 * @returns null when the listener does not exist, for example because it was removed
 */
export async function listenerOverview(
  deps: DeliveryDeps,
  listenerId: ObjectId,
  page: { state?: VoteSelection | undefined; from?: VotesCursor | undefined } = {},
): Promise<ListenerOverview | null> {
  const { listeners, servers, votes } = deps;
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
    countUnconfirmed(deps, serverId, COUNTED_AT_MOST),
    countSentNotConfirmed(deps, serverId, COUNTED_AT_MOST),
    votes.findOne(waiting, { sort: { votedAt: 1 }, projection: { votedAt: 1 } }),
    pageOfVotes(deps, serverId, { state: page.state }, page.from),
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
