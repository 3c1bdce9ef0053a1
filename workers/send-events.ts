import { ObjectId } from 'mongodb';
import { dueSubscriptions, type PassResult, sendEvents } from '../src/events/send-events.ts';
import { SlowPlaces } from '../src/events/slow-places.ts';
import { MINUTE, SECOND } from '../src/platform/clock.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { QueueWork } from './queue-work.ts';

/** Passes at once in a process; slow and failing destinations get half of them. */
const PASSES_AT_ONCE = 16;

export const sendEventsWork: QueueWork<'send-events'> = {
  concurrency: PASSES_AT_ONCE,
  lockMs: 30 * SECOND,
  period: {
    every: '10 seconds',
    due: async (deps) => (await dueSubscriptions(deps)).map((_id) => ({ subscriptionId: _id.toHexString() })),
  },
  processor({ deps, metrics, stop, waitNoLonger }) {
    const places = new SlowPlaces(PASSES_AT_ONCE / 2);
    return async ({ subscriptionId }, job) => {
      const pass = await sendEvents(deps, new ObjectId(subscriptionId), { stop, waitNoLonger, places });
      countPass(metrics, pass);
      const { end, again, attempts } = pass;
      // Behind the jobs of other subscriptions.
      if (end === 'more') await deps.producer.add('send-events', { subscriptionId });
      // The scheduler finds those that are due later.
      const isSoon = again && again.getTime() - deps.clock.now().getTime() < MINUTE;
      return isSoon ? job.delayUntil(again) : { end, attempts: attempts.length };
    };
  },
};

function countPass(metrics: Metrics, { type = 'http', attempts, dropped }: PassResult): void {
  for (const { end } of attempts) metrics.count('tallyport_event_attempts_total', { type, end });
  if (dropped > 0) metrics.count('tallyport_events_dropped_total', { type }, dropped);
}
