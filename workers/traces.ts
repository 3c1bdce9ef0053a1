import { DelayedError, type Job, type Processor } from 'bullmq';
import type { Ended } from '../src/delivery/drain/record-outcomes.ts';
import type { Listener } from '../src/listeners/listener.ts';
import { errorType } from '../src/platform/error-type.ts';
import { jobAttributes } from '../src/platform/producer.ts';
import type { QueueName } from '../src/platform/queues.ts';
import { isSampled, type Tracing } from '../src/platform/tracing/tracing.ts';

/** docs/adr/0105-traces.md says why BullMQ's own spans are not used. */
export function traceJobs(tracing: Tracing, queue: QueueName, process: Processor): Processor {
  if (!tracing.isOn) return process;
  return async (job, token, signal) => {
    const span = tracing.start({
      name: `process ${queue}`,
      kind: 'consumer',
      parent: traceOf(job),
      attributes: { ...jobAttributes(queue, job.data, 'process'), 'messaging.message.id': job.id ?? '' },
    });
    try {
      const result = await tracing.inside(span, () => process(job, token, signal));
      if (typeof result === 'string') span.set({ 'tallyport.job.result': result });
      return result;
    } catch (error) {
      if (error instanceof DelayedError) span.set({ 'tallyport.job.result': 'delayed' });
      else span.fail(errorType(error));
      throw error;
    } finally {
      span.end();
    }
  };
}

/** The value in Redis may be anything, so it is checked. */
function traceOf({ opts }: Job): string | null {
  try {
    const { traceparent } = JSON.parse(opts.telemetry?.metadata ?? '{}');
    return typeof traceparent === 'string' ? traceparent : null;
  } catch {
    return null;
  }
}

/**
 * The parent is the span in which the vote was cast, in another process and perhaps days earlier. The job is only a
 * link, because one job sends many votes. If the vote's trace is not recorded, there is no span.
 */
export function traceAttempt(
  tracing: Tracing,
  { taken: { vote, attempt }, outcome, durationMs, endedAt }: Ended,
  listener: Pick<Listener, '_id'>,
): void {
  if (!vote.traceparent) return;
  const job = tracing.active();
  const span = tracing.start({
    name: `deliver ${attempt.protocol}`,
    kind: 'client',
    parent: vote.traceparent,
    links: isSampled(job) ? [job] : [],
    startedAt: endedAt - durationMs,
    // The listener's message is left out, because it may repeat the player's name.
    attributes: {
      'tallyport.server.id': vote.serverId.toHexString(),
      'tallyport.listener.id': listener._id.toHexString(),
      'tallyport.vote.id': vote._id.toString(),
      'tallyport.attempt.number': vote.delivery.attemptCount,
      'tallyport.attempt.protocol': attempt.protocol,
      'tallyport.attempt.test': attempt.test,
      'tallyport.attempt.outcome': outcome.class,
      'tallyport.attempt.code': outcome.code,
      'tallyport.attempt.reached': outcome.reached,
    },
  });
  // An attempt of class `none` was not made, so it is not a failure of the listener.
  if (outcome.class !== 'delivered' && outcome.class !== 'none') span.fail(outcome.code);
  span.end(endedAt);
}
