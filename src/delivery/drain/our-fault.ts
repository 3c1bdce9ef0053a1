import { type Listener, listenerState } from '../../listeners/listener.ts';
import { type Outcome, outcome } from '../../listeners/outcomes.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import type { Logger } from '../../platform/log.ts';
import { UnsealError } from '../../platform/secrets.ts';
import type { OpenedListener } from '../send-vote.ts';
import type { RecordDeps } from './attempt-record.ts';
import { recordWithRetries } from './record-outcomes.ts';
import { takeVotes } from './take-votes.ts';

/** The outcome for an internal error. It contains only texts that are known to contain no secret. */
export function ourFault(error: unknown): Outcome {
  const detail = error instanceof UnsealError ? { detail: error.message } : {};
  return { ...outcome('our-fault', 'none'), ...detail };
}

/**
 * Opens a listener's secret, for the owner of its lease. When that fails, the timeline of the first vote in the queue
 * shows it, and the lease is deliberately not released: no worker tries again before it expires.
 *
 * @param waitNoLonger - as for `recordWithRetries`
 * @throws {UnsealError}
 */
export async function openOrExplain(
  deps: RecordDeps & { batcher: Batcher; log: Logger; open: (listener: Listener) => OpenedListener },
  listener: Listener,
  waitNoLonger: AbortSignal,
): Promise<OpenedListener> {
  try {
    return deps.open(listener);
  } catch (error) {
    const test = listenerState(listener) === 'unreachable';
    const one = { most: 1, atOnce: 1 };
    const taken = listener.pause ? [] : await takeVotes(deps, listener, { test }, one);
    const ended = { outcome: ourFault(error), durationMs: 0, endedAt: Date.now() };
    await Promise.all(taken.map((vote) => recordWithRetries(deps, { taken: vote, ...ended }, waitNoLonger)));
    throw error;
  }
}
