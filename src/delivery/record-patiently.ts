import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Claimed } from './after-end.ts';
import { type Recording, recordEnd } from './attempt-records.ts';
import type { Outcome } from './outcomes.ts';

/** How often it is tried again while MongoDB is away, and no longer than so. */
const AGAIN_MS = SECOND / 2;
const LONGEST_MS = MINUTE;

/**
 * Records how an attempt ended, as `recordEnd` does, and does not give up while MongoDB is away for a while: an
 * end that is never recorded counts as ambiguous, and the vote is sent once more.
 *
 * @param hurry - once aborted, the first failure is the last
 * @returns whether this end stands
 * @throws the driver's error when MongoDB stays away
 */
export async function recordPatiently(
  recording: Recording & { log: Logger },
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
  hurry: AbortSignal,
): Promise<boolean> {
  const giveUpAt = performance.now() + LONGEST_MS;
  for (;;) {
    try {
      return await recordEnd(recording, claimed, end, durationMs);
    } catch (error) {
      recording.log.warn({
        event: 'delivery.not_recorded',
        voteId: claimed.vote._id.toString(),
        code: end.code,
        reason: String(error),
      });
      if (hurry.aborted || performance.now() > giveUpAt) throw error;
      await pause(AGAIN_MS);
    }
  }
}
