import type { VotesFrom } from './vote-pages.ts';

/** The start of a page of votes as text: `1764230400000.3` or `seq12`. */
export function writeVotesFrom(from: VotesFrom): string {
  return 'seq' in from ? `seq${from.seq}` : `${from.at.getTime()}.${from.seen}`;
}

/** The reverse of `writeVotesFrom`; undefined for any other text. */
export function readVotesFrom(text: string): VotesFrom | undefined {
  if (!/^(-?\d{1,15}\.\d{1,7}|seq-?\d{1,15})$/.test(text)) return undefined;
  if (text.startsWith('seq')) return { seq: Number(text.slice(3)) };
  const [at, seen] = text.split('.').map(Number);
  return { at: new Date(at ?? 0), seen: seen ?? 0 };
}
