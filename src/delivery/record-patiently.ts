import { setTimeout as pause } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import type { Lanes, Together } from '../batching/lanes.ts';
import { sendWrites } from '../batching/write-together.ts';
import { MINUTE, SECOND } from '../clock.ts';
import type { Logger } from '../log.ts';
import { DURABLE } from '../mongo.ts';
import type { Vote } from '../votes/vote.ts';
import type { Claimed } from './after-end.ts';
import { type EndInPlace, endInPlace, type Recording, recordEnd } from './attempt-records.ts';
import type { Outcome } from './outcomes.ts';

/**
 * The ends that came during the last write, of whatever listeners, in one durable command: an end that comes alone
 * is written at once, and a fast listener's are not bound to one journal wait each. `true` for one that surely
 * stands; MongoDB does not say which of many did not match.
 */
const ends: Together<Collection<Vote>, EndInPlace, boolean> = {
  most: 50,
  async ask(votes, updates) {
    const [only] = updates;
    if (only && updates.length === 1) {
      const written = await votes.updateOne(only.q, only.u, { writeConcern: DURABLE });
      return [written.matchedCount === 1];
    }
    const { n } = await sendWrites(votes, { updates }, DURABLE);
    return updates.map(() => n === updates.length);
  },
};

/** How often it is tried again while MongoDB is away, and no longer than so. */
const AGAIN_MS = SECOND / 2;
const LONGEST_MS = MINUTE;

/**
 * Records how an attempt ended: together with other ends, and as `recordEnd` does where that does not surely succeed.
 * Does not give up while MongoDB is away for a while: an end that is never recorded counts as ambiguous, and the vote
 * is sent once more.
 *
 * @param hurry - once aborted, the first failure is the last
 * @returns whether this end stands
 * @throws the driver's error when MongoDB stays away
 */
export async function recordPatiently(
  recording: Recording & { lanes: Lanes; log: Logger },
  claimed: Claimed,
  end: Outcome,
  durationMs: number,
  hurry: AbortSignal,
): Promise<boolean> {
  const { lanes, votes, log } = recording;
  const giveUpAt = performance.now() + LONGEST_MS;
  for (let together = true; ; together = false) {
    try {
      const stands =
        together && (await lanes.ask(ends, votes, endInPlace(recording, claimed, end, durationMs)));
      return stands || (await recordEnd(recording, claimed, end, durationMs));
    } catch (error) {
      const voteId = claimed.vote._id.toString();
      log.warn({ event: 'delivery.not_recorded', voteId, code: end.code, reason: String(error) });
      if (hurry.aborted || performance.now() > giveUpAt) throw error;
      await pause(AGAIN_MS);
    }
  }
}
