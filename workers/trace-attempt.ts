import type { Ended } from '../src/delivery/drain/record-outcomes.ts';
import type { Listener } from '../src/listeners/listener.ts';
import { isSampled, type Tracing } from '../src/platform/tracing/tracing.ts';

/**
 * Makes the span of an attempt that has ended. Its parent is the cast of its vote, whenever and wherever that was; the
 * job that made it is a link, because one job serves many votes. A vote without a recorded trace gets no span.
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
    // Not what the listener said: that may repeat the player's name.
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
  // An attempt that did not take place is no failure of the listener.
  if (outcome.class !== 'delivered' && outcome.class !== 'none') span.fail(outcome.code);
  span.end(endedAt);
}
