import { DelayedError, type Job, type Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { BacklogThrottle } from '../src/delivery/drain/backlog-throttle.ts';
import type { Draining, DrainResult } from '../src/delivery/drain/drain.ts';
import { drainListener } from '../src/delivery/drain/drain-listener.ts';
import { createSend, openListener } from '../src/delivery/send-vote.ts';
import type { DeliveryQueue } from '../src/listeners/delivery-queues.ts';
import { SECOND } from '../src/platform/clock.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { Platform } from '../src/process/platform.ts';

/** A listener with much to do makes room for the others after this long. */
const BUDGET_MS = 20 * SECOND;

/** When attempts are given up: at the stop, and 10 s later those that still wait for an answer. */
export type StopSignals = { stop: AbortSignal; waitNoLonger: AbortSignal };

/**
 * The processors of the delivery queues. A job drains the listener that it names; where the listener's state is that of
 * another queue, it adds a job there before it ends. A job of an unreachable listener delays itself until the next test
 * is due and says so, where Bull Board shows it.
 */
export function forwardVotes(
  platform: Platform,
  metrics: Pick<Metrics, 'attemptEnded' | 'voteArrived'>,
  signals: StopSignals,
): Record<DeliveryQueue, Processor<Payload<DeliveryQueue>>> {
  const { clock, config, producer, secrets } = platform;
  const deps: Draining = {
    ...platform,
    send: createSend(config),
    open: (listener) => openListener(secrets, listener),
    throttle: new BacklogThrottle(),
    onEnd({ claimed: { vote, attempt }, outcome }) {
      const { protocol } = attempt;
      metrics.attemptEnded(protocol, outcome);
      // A resend by hand may come weeks later: that is not how long deliveries take.
      const byHand = vote.delivery.events.some(({ kind }) => kind === 'resent');
      if (outcome.class === 'delivered' && !byHand)
        metrics.voteArrived(protocol, clock.now().getTime() - vote.votedAt.getTime());
    },
  };

  const processorOf = (queue: DeliveryQueue): Processor<Payload<DeliveryQueue>> => {
    return async (job, token) => {
      const payload = QUEUES[queue].payload.parse(job.data);
      const end = await drainListener(
        {
          ...deps,
          log: platform.log.child({ jobId: job.id }),
          // Redis may be away: the votes are sent all the same.
          onBegin: (server) => void job.updateProgress({ server }).catch(() => undefined),
        },
        new ObjectId(payload.serverId),
        {
          ...signals,
          queue,
          budgetMs: BUDGET_MS,
          relayedAt: payload.relayedAt ? new Date(payload.relayedAt) : undefined,
        },
      );
      switch (end.kind) {
        case 'more':
        case 'stopped':
          // After a stop another worker goes on at once.
          await producer.add(queue, payload);
          return end.kind;
        case 'moved':
          await producer.add(end.to, payload, { hasten: true });
          return `moved to ${end.to}`;
        case 'unreachable':
          await job.updateProgress(progressOf(end));
          return delay(job, token, end.nextTestAt);
        case 'limited':
          return delay(job, token, end.until);
        default:
          return end.kind;
      }
    };
  };
  return {
    'forward-votes': processorOf('forward-votes'),
    'test-listeners': processorOf('test-listeners'),
    'drain-backlogs': processorOf('drain-backlogs'),
  };
}

/** What Bull Board shows of an unreachable listener. */
function progressOf({ server, waiting, code, since }: Extract<DrainResult, { kind: 'unreachable' }>) {
  return { server, waiting, reason: code, since: since.toISOString() };
}

async function delay(job: Job, token: string | undefined, until: Date): Promise<never> {
  await job.moveToDelayed(until.getTime(), token);
  throw new DelayedError();
}
