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
  /** Null if the vote is not delivered, or if that is not on record. */
  confirmed: boolean | null;
  code?: OutcomeCode;
};

/** For operators. Secrets and the URL are left out: a URL may contain a key. */
export type ListenerOverview = {
  server: { id: string; name: string; slug: string; removed: boolean };
  listener: Pick<Listener, 'protocol' | 'host' | 'port' | 'breaker'> & {
    state: ListenerState;
    lastDelivery: ReturnType<typeof lastDelivery>;
  };
  reason: ListenerReason | null;
  /** Counted up to `COUNTED_AT_MOST`, as the next two, which can still be resent. */
  waiting: number;
  unconfirmed: number;
  sentNotConfirmed: number;
  /** When it was cast. */
  oldestWaiting: Date | null;
  votes: VoteInShort[];
  next: VotesCursor | null;
};

/** A listener with one page of its server's votes; null when it does not exist. */
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
