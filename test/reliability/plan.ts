import { SECOND } from '../../src/platform/clock.ts';

/** One fault: it begins `at` milliseconds after the storm and ends `lasting` milliseconds later. */
export type Fault = { at: number; lasting: number; kind: string; which: number };

/** Numbers from 0 to 1 that follow from `seed` alone (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** From the shortest to the longest, in milliseconds. */
export type Span = readonly [number, number];

/** How long a fault lasts, and the pause from one beginning to the next. */
const LASTING_MS: Span = [500, 4 * SECOND];
const PAUSE_MS: Span = [500, 2 * SECOND];

/** The pause in a storm with twice as many faults at the same time. */
export const SHORT_PAUSE_MS: Span = [250, SECOND];

const LASTING_OF: Partial<Record<string, Span>> = {
  // If a worker is suspended for longer than its lease, it must not send votes that another worker has taken over.
  'stop-worker': [7 * SECOND, 9 * SECOND],
  // Votes are tried again by their schedule while it lasts.
  'listener-answers-504': [5 * SECOND, 9 * SECOND],
};

/**
 * The faults of a storm: every kind once in a shuffled round, then the next round. The same seed and kinds give the
 * same plan. All faults end before the storm is over.
 */
export function planFaults(
  kinds: string[],
  { seed, lengthMs, pauseMs = PAUSE_MS }: { seed: number; lengthMs: number; pauseMs?: Span | undefined },
): Fault[] {
  const random = randomNumbers(seed);
  const between = ([low, high]: Span) => Math.round(low + random() * (high - low));
  const plan: Fault[] = [];
  let round: string[] = [];
  for (let at = between(pauseMs); at < lengthMs; at += between(pauseMs)) {
    if (round.length === 0) round = shuffled(kinds, random);
    const kind = round.pop();
    if (!kind) break;
    const lasting = between(LASTING_OF[kind] ?? LASTING_MS);
    const which = Math.floor(random() * 1_000);
    if (at + lasting <= lengthMs) plan.push({ at, lasting, kind, which });
  }
  return plan;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
