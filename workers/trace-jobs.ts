import { DelayedError, type Job, type Processor } from 'bullmq';
import { errorType } from '../src/platform/error-type.ts';
import { jobAttributes } from '../src/platform/producer.ts';
import type { QueueName } from '../src/platform/queues.ts';
import type { Tracing } from '../src/platform/tracing/tracing.ts';

/**
 * Wraps `process` so that each job has a span. It belongs to the trace in which the job was added, or to a new trace if
 * there is none. docs/adr/0105-traces.md says why BullMQ's own spans are not used.
 */
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

/**
 * The `traceparent` of the span that added the job; null if there is none. The value in Redis may be anything, so it is
 * checked.
 */
function traceOf({ opts }: Job): string | null {
  try {
    const { traceparent } = JSON.parse(opts.telemetry?.metadata ?? '{}');
    return typeof traceparent === 'string' ? traceparent : null;
  } catch {
    return null;
  }
}
