import { UnsealError } from '../secrets.ts';
import { claimNextVote, type Recording, recordEnd } from './attempt-records.ts';
import { type Listener, listenerState } from './listener.ts';
import { type Outcome, outcome } from './outcomes.ts';
import type { OpenedListener } from './send-vote.ts';

/** A fault of ours as the end of an attempt. Only a text that is known to hold no secret goes into it. */
export function ourFault(error: unknown): Outcome {
  return outcome('our-fault', 'none', error instanceof UnsealError ? error.message : undefined);
}

/**
 * Opens a listener's secret, by one who holds its lease. When it cannot be read, the first vote in line says so
 * in its timeline, and the lease is kept on purpose: nobody tries again before it has run out.
 *
 * @throws {UnsealError}
 */
export async function openOrExplain(
  deps: Recording & { open: (listener: Listener) => OpenedListener },
  listener: Listener,
): Promise<OpenedListener> {
  try {
    return deps.open(listener);
  } catch (error) {
    const test = listenerState(listener) === 'unreachable';
    const claimed = listener.pause ? null : await claimNextVote(deps, listener, { test });
    if (claimed) await recordEnd(deps, claimed, ourFault(error), 0);
    throw error;
  }
}
