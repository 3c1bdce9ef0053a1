import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { randomNumbers } from '../reliability/plan.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { mutate } from './mutate.ts';
import type { Target } from './target.ts';

/** What a run found. */
export type Found = {
  target: string;
  inputs: number;
  /** The longest time of one input, in milliseconds of the processor. */
  slowestMs: number;
  /** The power of the length with which the processor time grows: about 1 for a linear parser. */
  growth: number;
  /** Memory that is in use after the run and was not before, in bytes, each after a collection. */
  keptBytes: number;
  /** An error that is not of the parser's own type, with the input, shortened as far as it still causes the error. */
  thrown: { error: unknown; input: Buffer } | null;
};

/** Linear time grows with the power 1 of the length, quadratic time with the power 2. */
export const MOST_GROWTH = 1.6;

/** Inputs between two looks at the clock. */
const AT_ONCE = 64;

/**
 * Gives a parser mutated inputs for `forMs` milliseconds, and measures how its time grows. The same seed gives the same
 * inputs; it ends early at the first error that is not of the parser's own type.
 */
export function fuzz(target: Target, { seed, forMs }: { seed: number; forMs: number }): Found {
  const random = randomNumbers(seed);
  const found: Found = {
    target: target.name,
    inputs: 0,
    slowestMs: 0,
    growth: 0,
    keptBytes: 0,
    thrown: null,
  };
  for (const input of target.seeds) run(target, input);
  const before = memoryUsed();
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt) {
    for (let i = 0; i < AT_ONCE; i += 1) {
      const input = mutate(random, target.seeds);
      const startedAt = performance.now();
      const error = run(target, input);
      // Measured again in processor time: on a busy machine the clock runs on while the parser waits.
      if (performance.now() - startedAt > found.slowestMs) {
        found.slowestMs = Math.max(found.slowestMs, timeOf(target, input));
      }
      found.inputs += 1;
      if (error === undefined) continue;
      found.thrown = { error, input: shortened(target, input) };
      return found;
    }
  }
  found.keptBytes = Math.max(0, memoryUsed() - before);
  found.growth = growthOf(target);
  return found;
}

/** The error of an input that is not of the parser's own type. */
function run({ parse, isOwnError }: Target, input: Buffer): unknown {
  try {
    parse(Buffer.from(input));
    return undefined;
  } catch (error) {
    return isOwnError(error) ? undefined : error;
  }
}

function shortened(target: Target, input: Buffer): Buffer {
  let shortest = input;
  for (let size = input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at + size <= shortest.length; ) {
      const without = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + size)]);
      if (run(target, without) === undefined) at += size;
      else shortest = without;
    }
  }
  return shortest;
}

/** The smaller of the two sizes whose times are compared, in bytes, is the first of these that takes `SHORTEST_MS`. */
const SMALLER = [16, 64, 256, 1_024].map((kibibytes) => kibibytes * 1_024);
const TIMES_LARGER = 4;

/** In shorter times the engine's own work, such as an allocation in another space, shows as growth. */
const SHORTEST_MS = 1;

/** The worst growth over what an attacker would repeat: each piece of the known inputs, and each whole one. */
function growthOf(target: Target): number {
  return Math.max(...target.repeated.map((piece) => growthWith(target, piece)));
}

function growthWith(target: Target, { before = '', piece, behind = '' }: Target['repeated'][number]): number {
  const input = (size: number) =>
    Buffer.from(before + piece.repeat(Math.ceil(size / piece.length)) + behind, 'latin1');
  const takesLong = (size: number) =>
    Math.min(...[1, 2, 3].map(() => timeOf(target, input(size)))) >= SHORTEST_MS;
  const smaller = SMALLER.find(takesLong) ?? Math.max(...SMALLER);
  const [small, large] = [input(smaller), input(TIMES_LARGER * smaller)];
  // Both by turns, and the best of each: collections of the engine make both longer.
  let [bestSmall, bestLarge] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const growth = () => Math.log(bestLarge / Math.max(bestSmall, SHORTEST_MS)) / Math.log(TIMES_LARGER);
  for (let round = 0; round < 10 || (round < 20 && growth() > MOST_GROWTH); round += 1) {
    bestSmall = Math.min(bestSmall, timeOf(target, small));
    bestLarge = Math.min(bestLarge, timeOf(target, large));
  }
  return growth();
}

function timeOf(target: Target, input: Buffer): number {
  return cpuMs(() => run(target, input));
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function memoryUsed(): number {
  // The engine frees the memory of buffers beside the program, and ends with that when it collects again.
  for (let times = 0; times < 3; times += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
