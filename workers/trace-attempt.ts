import type { Ended } from '../src/delivery/drain/record-outcomes.ts';
import type { Listener } from '../src/listeners/listener.ts';
import { isSampled, type Tracing } from '../src/platform/tracing/tracing.ts';

/**
 * Makes the span of an attempt that has ended. Its parent is the span in which the vote was cast, in another process
 * and perhaps days earlier. The job of the attempt is only a link, because one job sends many votes. If the vote's
 * trace is not recorded, the attempt gets no span.
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
