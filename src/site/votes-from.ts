import { z } from 'zod';
import type { VotesFrom } from '../votes/vote-pages.ts';

/** The start of a page of votes in a link: `1764230400000.3` or `seq12`. Invalid values count as absent. */
export const votesFrom = z
  .string()
  .regex(/^(-?\d{1,15}\.\d{1,7}|seq-?\d{1,15})$/)
  .transform((text): VotesFrom => {
    if (text.startsWith('seq')) return { seq: Number(text.slice(3)) };
    const [at, seen] = text.split('.').map(Number);
    return { at: new Date(at ?? 0), seen: seen ?? 0 };
  })
  .optional()
  .catch(undefined);

/** The reverse of `votesFrom`. */
export function votesFromText(from: VotesFrom): string {
  return 'seq' in from ? `seq${from.seq}` : `${from.at.getTime()}.${from.seen}`;
}
