import type { Outcome } from '../../listeners/outcomes.ts';
import { SECOND } from '../../platform/clock.ts';
import type { OnRefusal } from '../votifier/votifier-client.ts';

/**
 * However many votes a website refuses. If it breaks right after a challenge, the votes that it refuses within this
 * time fail, and their owner can resend them.
 */
const CHALLENGE_EVERY_MS = 10 * SECOND;

export type Challenge = Parameters<OnRefusal>[1];

/** Within `CHALLENGE_EVERY_MS` the last result counts, unless Tallyport could not send that challenge. */
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
