import type { ObjectId } from 'mongodb';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import type { Producer } from '../platform/producer.ts';
import type { Listener } from './listener.ts';
import { hasTakenVotes } from './listener-state.ts';

/**
 * The queues of delivery, each with its own concurrency (docs/adr/0050-delivery-queues.md).
 *
 * - `forward-votes`: listeners that have taken a vote with their current settings and have not failed since.
 * - `test-listeners`: all other listeners.
 * - `drain-backlogs`: listeners that answer and have more than `BACKLOG_VOTES` votes waiting or being sent.
 */
export const DELIVERY_QUEUES = ['forward-votes', 'test-listeners', 'drain-backlogs'] as const;
export type DeliveryQueue = (typeof DELIVERY_QUEUES)[number];

export function isDeliveryQueue(name: string): name is DeliveryQueue {
  return DELIVERY_QUEUES.some((queue) => queue === name);
}

/** What `queueOf`, `wakeListener` and `wakeForVote` read, besides ids. */
export const QUEUE_FIELDS = {
  protocol: 1,
  'breaker.failures': 1,
  acknowledgedAt: 1,
  lastDeliveredAt: 1,
  updatedAt: 1,
  pause: 1,
  'lease.until': 1,
  'lease.listens': 1,
} as const;

type Queued = Pick<Listener, 'breaker' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>;

/** A worker moves a listener with a backlog to `drain-backlogs`. */
export function queueOf(listener: Queued): 'forward-votes' | 'test-listeners' {
  const answers = listener.breaker.failures === 0 && hasTakenVotes(listener);
  return answers ? 'forward-votes' : 'test-listeners';
}

/** What is needed when a vote is cast or claimed. */
export const listenersLoader = findLoader<Listener, ObjectId>({
  filter: (serverIds) => ({ serverId: anyOf(serverIds) }),
  nameOf: (serverId) => serverId.toHexString(),
  keyOf: ({ serverId }) => serverId,
  options: { projection: { serverId: 1, rewards: 1, rewardsSince: 1, createdAt: 1, ...QUEUE_FIELDS } },
});

type Woken = Queued & Pick<Listener, '_id' | 'serverId' | 'pause' | 'protocol' | 'lease'>;

type WakeUp = {
  /** A job that is in the queue with a delay runs now. */
  hasten?: boolean;
  /** When the sweep found the work due. */
  relayedAt?: Date;
};

/**
 * Starts the delivery of a vote that was cast at `now`, by a message to the worker that has the listener's lease and
 * listens, if there is one. If the lease was released since `listener` was read, its last owner still adds the job.
 */
export function wakeForVote(producer: Producer, listener: Woken, now: Date): Promise<boolean> {
  const { lease, serverId, pause } = listener;
  return lease?.listens && now < lease.until && !pause
    ? producer.announceDueVotes(serverId.toHexString())
    : wakeListener(producer, listener);
}

/**
 * Adds a listener's wake-up job; the waiting takes of one that fetches are woken. While it is paused only the sweep
 * adds a job, for the attempts of dead workers. Returns whether Redis accepted; if not, a query finds the votes later.
 */
export async function wakeListener(
  producer: Producer,
  listener: Omit<Woken, 'lease'>,
  { hasten = false, relayedAt }: WakeUp = {},
): Promise<boolean> {
  if (listener.protocol === 'fetch') return producer.announceDueVotes(listener.serverId.toHexString());
  if (listener.pause && !relayedAt) return false;
  const payload = {
    serverId: listener.serverId.toHexString(),
    listenerId: listener._id.toHexString(),
    ...(relayedAt ? { relayedAt: relayedAt.toISOString() } : {}),
  };
  return producer.add(queueOf(listener), payload, { hasten });
}
