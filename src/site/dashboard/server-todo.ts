import type { Collection, ObjectId, WithId } from 'mongodb';
import { COUNTED_AT_MOST, countWaiting, firstQueuedAt } from '../../delivery/count-votes.ts';
import { REASON_FIELDS } from '../../delivery/diagnosis/listener-reason.ts';
import type { Subscription } from '../../events/subscription.ts';
import { troubledSubscriptions } from '../../events/subscriptions.ts';
import { t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import {
  isForgotten,
  isNeglected,
  type ListenerState,
  listenerState,
  settingsProof,
} from '../../listeners/listener-state.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import type { Clock } from '../../platform/clock.ts';
import { countUnanswered } from '../../reviews/read-reviews.ts';
import type { Review, ReviewList } from '../../reviews/review.ts';
import type { Server } from '../../servers/server.ts';
import type { Vote } from '../../votes/vote.ts';
import type { ServerTab } from '../shared/dashboard-pages.ts';
import type { RailCount } from '../shared/rail.ts';

const LISTENER_FIELDS = {
  serverId: 1,
  ...REASON_FIELDS,
  'proven.at': 1,
  fetched: 1,
  lastDeliveryConfirmed: 1,
} as const;

type ReadListener = Pick<
  Listener,
  'serverId' | 'proven' | 'fetched' | 'lastDeliveryConfirmed' | keyof typeof REASON_FIELDS
>;

/** `bad`: votes do not arrive. `attention`: somebody must do something so that they arrive. */
type Trouble = 'bad' | 'attention' | null;

export type TodoListener = ReadListener & {
  state: ListenerState;
  trouble: Trouble;
  isNeglected: boolean;
  /** Counted only in trouble, up to `COUNTED_AT_MOST`. */
  waiting: number;
};

/** `troubled`: destinations of events that take nothing, except those that the owner paused. */
export type Todo = { listener: TodoListener | null; unanswered: number; troubled: number };

type TodoDeps = {
  listeners: Collection<Listener>;
  subscriptions: Collection<Subscription>;
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  votes: Collection<Vote>;
  clock: Clock;
};

/** What waits for the owners of these servers: a few queries for all, and a count for each listener in trouble. */
export async function readTodos(
  deps: TodoDeps,
  servers: Pick<WithId<Server>, '_id'>[],
): Promise<(serverId: ObjectId) => Todo> {
  const ids = servers.map(({ _id }) => _id);
  const [found, unanswered, troubled] = await Promise.all([
    deps.listeners
      .find({ serverId: anyOf(ids) })
      .project<ReadListener>(LISTENER_FIELDS)
      .toArray(),
    countUnanswered(deps, ids),
    troubledSubscriptions(deps, ids),
  ]);
  const listeners = await Promise.all(found.map((listener) => judged(deps, listener)));
  const byServer = new Map(listeners.map((listener) => [listener.serverId.toHexString(), listener]));
  return (serverId) => ({
    listener: byServer.get(serverId.toHexString()) ?? null,
    unanswered: unanswered.get(serverId.toHexString()) ?? 0,
    troubled: troubled.filter((one) => one.serverId.equals(serverId)).length,
  });
}

async function judged({ votes, clock }: TodoDeps, listener: ReadListener): Promise<TodoListener> {
  const now = clock.now();
  const state = listenerState(listener);
  const queuedAt = isForgotten(listener, now) ? await firstQueuedAt(votes, listener.serverId) : null;
  const neglected = isNeglected(listener, queuedAt, now);
  const trouble = neglected ? 'bad' : troubleOf(listener, state);
  const waiting = trouble ? await countWaiting(votes, listener.serverId, COUNTED_AT_MOST) : 0;
  return { ...listener, state, trouble, isNeglected: neglected, waiting };
}

function troubleOf(listener: ReadListener, state: ListenerState): Trouble {
  const { protocol, fetched, pause } = listener;
  if (state === 'unreachable' || pause?.code) return 'bad';
  if (state !== 'active') return 'attention';
  if (protocol === 'fetch') return fetched ? null : 'attention';
  const proof = settingsProof(listener);
  return proof === 'works' ? null : proof === 'failed' ? 'bad' : 'attention';
}

/** The marks in the rail of the server's pages. */
export function todoCounts({ listener, unanswered, troubled }: Todo): Partial<Record<ServerTab, RailCount>> {
  const tone = listener?.trouble;
  return {
    ...(tone ? { '/listener': { number: 1, tone, meaning: t('problem') } } : {}),
    ...(unanswered > 0
      ? { '/reviews': { number: unanswered, tone: 'attention', meaning: t('without an answer') } }
      : {}),
    ...(troubled > 0 ? { '/events': { number: troubled, tone: 'attention', meaning: t('failing') } } : {}),
  };
}
