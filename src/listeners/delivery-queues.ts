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

/** The fields of a listener that `queueOf`, `wakeListener` and `wakeForVote` read, besides its ids. */
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

/** The queue for a listener's wake-up job. If the listener has a backlog, a worker moves it to `drain-backlogs`. */
export function queueOf(listener: Queued): 'forward-votes' | 'test-listeners' {
  const answers = listener.breaker.failures === 0 && hasTakenVotes(listener);
  return answers ? 'forward-votes' : 'test-listeners';
}

/** Loads the listener of a server with the fields that are needed when a vote is cast or claimed. */
export const listenersLoader = findLoader<Listener, ObjectId>({
  filter: (serverIds) => ({ serverId: anyOf(serverIds) }),
  nameOf: (serverId) => serverId.toHexString(),
  keyOf: ({ serverId }) => serverId,
  options: { projection: { serverId: 1, rewards: 1, ...QUEUE_FIELDS } },
});

type Woken = Queued & Pick<Listener, '_id' | 'serverId' | 'pause' | 'protocol' | 'lease'>;

type WakeUp = {
  /** If the listener's job is already in the queue with a delay: whether that job runs now. */
  hasten?: boolean;
  /** When the sweep found the work due; absent if the caller is not the sweep. */
  relayedAt?: Date;
};

/**
 * Starts the delivery of a vote that was cast at `now`. If a worker has the listener's lease and listens for due votes:
 * publishes a message to that worker. Otherwise calls `wakeListener`.
 *
 * @param listener - as it was read before the vote was inserted. If the lease was released since then: its last owner
 *   still gets the message, and adds the job
 * @returns as `wakeListener` does
 */
export function wakeForVote(producer: Producer, listener: Woken, now: Date): Promise<boolean> {
  const { lease, serverId, pause } = listener;
  return lease?.listens && now < lease.until && !pause
    ? producer.announceDueVotes(serverId.toHexString())
    : wakeListener(producer, listener);
}

/**
 * Adds the wake-up job of a listener to its queue. If the listener fetches, it has no job: its waiting takes are woken.
 * If the listener is paused, only the sweep adds a job: the job finds the attempts of dead workers.
 *
 * @returns whether Redis accepted the job or message; false also if no job is added because of a pause. If Redis did
 *   not accept it, the sweep or the query of a waiting take finds the votes
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
