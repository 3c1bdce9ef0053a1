import type { Outcome } from '../../listeners/outcomes.ts';
import type { Logger } from '../../platform/log.ts';
import { traceField } from '../../platform/tracing/tracing.ts';
import { givenUpAfter, type Taken } from './after-attempt.ts';
import type { ListenerHealth } from './breaker.ts';

/**
 * Logs the outcome of an attempt, and whether its vote is given up.
 *
 * @param log - has the fields of server, listener and job
 */
export function logOutcome(log: Logger, taken: Taken, outcome: Outcome, durationMs: number): void {
  const { vote, attempt } = taken;
  const voteId = vote._id.toString();
  const { code } = outcome;
  const received = {
    ...(outcome.words ? { words: outcome.words } : {}),
    ...(outcome.detail ? { detail: outcome.detail } : {}),
  };
  log.info({
    event: 'delivery.attempt',
    voteId,
    attempt: vote.delivery.attemptCount,
    protocol: attempt.protocol,
    test: attempt.test,
    code,
    class: outcome.class,
    reached: outcome.reached,
    durationMs: Math.round(durationMs),
    ...traceField(vote.traceparent),
    ...received,
  });
  const state = givenUpAfter(taken, outcome);
  if (state) log.warn({ event: `vote.${state}`, voteId, code, ...received });
}

/** Logs how the outcome of an attempt changed its listener, if that is of interest to an operator. */
export function logHealth(log: Logger, before: ListenerHealth, health: ListenerHealth, voteId: string): void {
  const { breaker, pause } = health;
  const wasOpen = before.breaker.openSince;
  if (!wasOpen && breaker.openSince) {
    log.warn({ event: 'breaker.opened', voteId, code: breaker.code, nextTestAt: breaker.nextTestAt });
  }
  if (wasOpen && !breaker.openSince) log.info({ event: 'breaker.closed', voteId, openSince: wasOpen });
  if (pause && !before.pause) log.warn({ event: 'listener.paused', voteId, by: pause.by, code: pause.code });
}
