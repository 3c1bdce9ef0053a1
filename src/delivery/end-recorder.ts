import type { Logger } from '../log.ts';
import { DURABLE } from '../mongo.ts';
import type { Claimed } from './after-end.ts';
import { endChange, type Recording } from './attempt-records.ts';
import type { Outcome } from './outcomes.ts';
import { recordPatiently } from './record-patiently.ts';

/** An end that waits to be recorded. */
type Waiting = {
  claimed: Claimed;
  end: Outcome;
  durationMs: number;
  told: (stands: Promise<boolean>) => void;
};

/** Records how an attempt ended, as `recordPatiently` does. */
export type EndRecorder = (claimed: Claimed, end: Outcome, durationMs: number) => Promise<boolean>;

/**
 * Records ends one durable write after the other, each with all that have come during the one before: an end that
 * comes alone is written at once, and a fast listener's are not bound to one journal wait each.
 *
 * @param hurry - as for `recordPatiently`
 */
export function createEndRecorder(recording: Recording & { log: Logger }, hurry: AbortSignal): EndRecorder {
  let waiting: Waiting[] = [];
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const recorded = await recordTogether(recording, batch);
      const settled = batch.map(({ claimed, end, durationMs, told }) => {
        const stands = recorded
          ? Promise.resolve(true)
          : recordPatiently(recording, claimed, end, durationMs, hurry);
        told(stands);
        return stands;
      });
      await Promise.allSettled(settled);
    }
    writing = false;
  }

  return (claimed, end, durationMs) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    waiting.push({ claimed, end, durationMs, told: resolve });
    if (!writing) void write();
    return promise;
  };
}

/** Whether every one of these ends surely stands; otherwise each is to be recorded, and looked at, by itself. */
async function recordTogether(recording: Recording, batch: Waiting[]): Promise<boolean> {
  if (batch.length === 1) return false;
  const updates = batch.map(({ claimed, end, durationMs }) => ({
    updateOne: endChange(recording, claimed, end, durationMs),
  }));
  const written = await recording.votes
    .bulkWrite(updates, { ordered: false, writeConcern: DURABLE })
    .catch(() => null);
  return written?.matchedCount === batch.length;
}
