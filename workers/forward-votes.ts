import { ObjectId } from 'mongodb';
import { BacklogThrottle } from '../src/delivery/drain/backlog-throttle.ts';
import { deliveryDelayMs } from '../src/delivery/drain/delivery-delay.ts';
import type { DrainDeps, DrainResult } from '../src/delivery/drain/drain.ts';
import { drainListener } from '../src/delivery/drain/drain-listener.ts';
import { KeptLeases } from '../src/delivery/drain/kept-leases.ts';
import { createVoteSender, openListener } from '../src/delivery/send-vote.ts';
import type { DeliveryQueue } from '../src/listeners/delivery-queues.ts';
import { type Batcher, createBatcher } from '../src/platform/batching/batcher.ts';
import { SECOND } from '../src/platform/clock.ts';
import { within } from '../src/platform/deadline.ts';
import type { Payload } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { countAttempt, type Metrics } from '../src/process/metrics.ts';
import type { QueueWork, StopSignals, WorkContext } from './queue-work.ts';
import { traceAttempt } from './traces.ts';

/** After this time another listener gets the slot, even if the job's listener still has votes. */
const BUDGET_MS = 20 * SECOND;

const processor =
  (queue: DeliveryQueue): QueueWork<DeliveryQueue>['processor'] =>
  ({ delivery }) =>
  (payload, job) =>
    delivery.run(queue, payload, job);

export const forwardVotesWork: QueueWork<'forward-votes'> = {
  concurrency: 'WORKER_CONCURRENCY',
  processor: processor('forward-votes'),
};

export const testListenersWork: QueueWork<'test-listeners'> = {
  concurrency: 'TEST_CONCURRENCY',
  // If hundreds of listeners become due at the same moment, their tests would keep MongoDB busy, and votes for working
  // listeners would wait.
  limiter: { most: 3, inMs: SECOND / 10 },
  processor: processor('test-listeners'),
};

export const drainBacklogsWork: QueueWork<'drain-backlogs'> = {
  concurrency: 'BACKLOG_CONCURRENCY',
  processor: processor('drain-backlogs'),
};

/**
 * A job drains its listener. If another queue handles the listener by now, it adds a job to that queue before it ends.
 * If the listener is unreachable, the job is delayed until the next test is due, and its progress in Bull Board says
 * so.
 */
export function createDelivery(
  deps: AppDeps,
  metrics: Metrics,
  signals: StopSignals,
): WorkContext['delivery'] & { keptLeases: KeptLeases } {
  const { clock, config, producer, producerRedis, queues, secrets, tracing } = deps;
  const drainDeps: DrainDeps = {
    ...deps,
    send: createVoteSender(config),
    open: (listener) => openListener(secrets, listener),
    throttle: new BacklogThrottle(),
  };
  // Each queue has a batcher of its own, so fresh votes do not wait for database operations of unreachable listeners
  // or backlogs.
  const batchers: Record<DeliveryQueue, Batcher> = {
    'forward-votes': createBatcher(),
    'test-listeners': createBatcher(),
    'drain-backlogs': createBatcher(),
  };

  const measured = (queue: DeliveryQueue): NonNullable<DrainDeps['onOutcome']> => {
    return (ended, listener) => {
      traceAttempt(tracing, ended, listener);
      const now = clock.now();
      countAttempt(metrics, ended, now.getTime());
      const delayMs = deliveryDelayMs(ended, listener, now);
      if (delayMs !== null) metrics.observe('tallyport_delivery_delay_seconds', { queue }, delayMs / SECOND);
    };
  };

  const keptLeases = new KeptLeases({
    ...deps,
    concurrency: config.WORKER_CONCURRENCY,
    addJob: (job) => producer.add('forward-votes', job),
    ending: signals.waitNoLonger,
    async isPaused() {
      // If Redis is unavailable, `isPaused()` of the queue would wait until Redis is back.
      if (producerRedis.status !== 'ready') throw new Error('Redis is away');
      return within(SECOND, queues['forward-votes'].isPaused());
    },
    async drain(payload) {
      try {
        const result = await drain('forward-votes', payload, {
          log: deps.log,
          onOutcome: measured('forward-votes'),
        });
        if (result.kind === 'moved') await producer.add(result.to, payload, { hasten: true });
        // This drain has no job. If it ended for any reason except `idle` and `busy`, a job is added: the job sends the
        // remaining votes, is delayed, or ends with the reason, which Bull Board shows.
        else if (result.kind !== 'idle' && result.kind !== 'busy')
          await producer.add('forward-votes', payload);
      } catch (error) {
        deps.log.warn({ event: 'delivery.drain_failed', ...payload, reason: String(error) });
      }
    },
  });

  /** If another worker has the lease, that worker is told about due votes. */
  async function drain(
    queue: DeliveryQueue,
    payload: Payload<DeliveryQueue>,
    own: Pick<DrainDeps, 'log' | 'onOutcome' | 'onBegin'>,
  ): Promise<DrainResult> {
    const turn = queue === 'forward-votes' ? keptLeases.begin(payload, own.onBegin === undefined) : undefined;
    if (turn === 'busy') return { kind: 'busy' };
    let result: DrainResult | undefined;
    try {
      const depsOfQueue = { ...drainDeps, ...own, batcher: batchers[queue] };
      result = await drainListener(depsOfQueue, new ObjectId(payload.serverId), {
        ...signals,
        queue,
        kept: turn,
        budgetMs: BUDGET_MS,
        relayedAt: payload.relayedAt ? new Date(payload.relayedAt) : undefined,
      });
      if (result.kind === 'busy' && result.listens)
        void producer.announceDueVotes(payload.serverId, { isChanged: true });
      return result;
    } finally {
      turn?.end(result !== undefined && result.kind !== 'busy');
    }
  }

  return {
    keptLeases,
    async run(queue, payload, job) {
      const result = await drain(queue, payload, {
        log: deps.log.child({ jobId: job.id }),
        onOutcome: measured(queue),
        onBegin: (server) => job.showProgress({ server }),
      });
      switch (result.kind) {
        case 'more':
        case 'stopped':
          // The job is added again, so that another worker continues at once.
          await producer.add(queue, payload);
          return result.kind;
        case 'moved':
          await producer.add(result.to, payload, { hasten: true });
          return `moved to ${result.to}`;
        case 'unreachable': {
          const { server, waiting, code, since } = result;
          const progress = { server, waiting, reason: code, since: since.toISOString() };
          return job.delayUntil(result.nextTestAt, progress);
        }
        case 'limited':
          return job.delayUntil(result.until);
        default:
          return result.kind;
      }
    },
  };
}
