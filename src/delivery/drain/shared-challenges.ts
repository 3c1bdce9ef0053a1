import type { Outcome } from '../../listeners/outcomes.ts';
import { SECOND } from '../../platform/clock.ts';
import type { OnRefusal } from '../votifier/votifier-client.ts';

/**
 * After refused votes, a website gets at most one challenge in this time while a worker keeps its lease, however many
 * votes are cast under names that it refuses. If the website breaks right after a challenge, the votes that it refuses
 * within this time fail, and their owner can resend them.
 */
const CHALLENGE_EVERY_MS = 10 * SECOND;

/** Sends a challenge: see `OnRefusal`. */
export type Challenge = Parameters<OnRefusal>[1];

/**
 * Returns a function that sends a challenge, or returns the result of the last one if that was sent less than
 * `CHALLENGE_EVERY_MS` ago. If Tallyport could not send the last one, the next refusal sends another.
 */
export function shareChallenges(): (challenge: Challenge) => Promise<Outcome | null> {
  let last: { at: number; failed: Promise<Outcome | null> } | null = null;
  return async (challenge) => {
    const now = performance.now();
    if (!last || now - last.at >= CHALLENGE_EVERY_MS) last = { at: now, failed: challenge() };
    const sent = last;
    const forget = () => {
      if (last === sent) last = null;
    };
    try {
      const failed = await sent.failed;
      if (failed?.class === 'none') forget();
      return failed;
    } catch (error) {
      forget();
      throw error;
    }
  };
}
