import { DelayedError, type Job, type Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { SECOND } from '../src/clock.ts';
import { drainListener } from '../src/delivery/drain-listener.ts';
import type { DrainEnd, Draining } from '../src/delivery/draining.ts';
import { createSend, openListener } from '../src/delivery/send-vote.ts';
import { FAILING_TURN, UnprovenPlaces } from '../src/delivery/turn.ts';
import { Yielding } from '../src/delivery/yielding.ts';
import type { Metrics } from '../src/metrics.ts';
import type { Platform } from '../src/platform.ts';
import { type Payload, QUEUES } from '../src/queues.ts';

/** A listener with much to do makes room for the others after this long. */
const BUDGET_MS = 20 * SECOND;

/** When attempts are given up: at the stop, and 10 s later those that still wait for an answer. */
export type StopSignals = { stop: AbortSignal; waitNoLonger: AbortSignal };

/**
 * Drains the listener that a job names. A job of an unreachable listener delays itself until the next test is
 * due and says so, where Bull Board shows it.
 */
export function forwardVotes(
  platform: Platform,
  metrics: Pick<Metrics, 'attemptEnded' | 'voteArrived'>,
  signals: StopSignals,
): Processor<Payload<'forward-votes'>> {
  const deps: Draining = {
    ...platform,
    send: createSend(platform.config),
    // Half of the places stay for listeners that answer.
    unproven: new UnprovenPlaces(Math.max(1, Math.floor(platform.config.WORKER_CONCURRENCY / 2))),
    yielding: new Yielding(),
    open: (listener) => openListener(platform.secrets, listener),
    onEnd({ vote, attempt }, end) {
      const protocol = attempt.protocol;
      metrics.attemptEnded(protocol, end);
      // A resend by hand may come weeks later: that is not how long deliveries take.
      const byHand = vote.delivery.events.some(({ kind }) => kind === 'resent');
      if (end.class === 'delivered' && !byHand)
        metrics.voteArrived(protocol, platform.clock.now().getTime() - vote.votedAt.getTime());
    },
  };
  return async (job, token) => {
    const payload = QUEUES['forward-votes'].payload.parse(job.data);
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
        budgetMs: BUDGET_MS,
        turn: job.priority,
        relayedAt: payload.relayedAt ? new Date(payload.relayedAt) : undefined,
      },
    );
    // After a stop of ours another worker goes on at once.
    if (end.kind === 'more' || end.kind === 'stopped') await platform.producer.add('forward-votes', payload);
    if (end.kind === 'unreachable') await delay(job, token, end);
    if (end.kind === 'put-off') await comeBack(job, token, end.until);
    return end.kind;
  };
}

async function delay(
  job: Job,
  token: string | undefined,
  end: Extract<DrainEnd, { kind: 'unreachable' }>,
): Promise<never> {
  await job.updateProgress({
    server: end.server,
    waiting: end.waiting,
    reason: end.code,
    since: end.since.toISOString(),
  });
  // It was called for as a listener that answers; its tests come after those that do.
  await job.changePriority({ priority: FAILING_TURN });
  return comeBack(job, token, end.nextTestAt);
}

async function comeBack(job: Job, token: string | undefined, at: Date): Promise<never> {
  await job.moveToDelayed(at.getTime(), token);
  throw new DelayedError();
}
