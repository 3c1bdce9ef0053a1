import { inspect } from 'node:util';
import { type Found, MOST_GROWTH } from './fuzz.ts';

/** What a run may keep: caches of the engine, not every input. */
export const MOST_KEPT_BYTES = 64 * 1_048_576;

/** The most processor time of one input of up to 64 KiB, in milliseconds. */
export const MOST_MS = 1_000;

/** What is wrong with a parser, in sentences; the input of an error can be copied into a test. */
export function faultsOf({ target, slowestMs, growth, keptBytes, thrown }: Found): string[] {
  const faults: string[] = [];
  if (thrown)
    faults.push(
      `${target}: throws ${inspect(thrown.error)} for ${thrown.input.length} bytes, in hex: ${thrown.input.toString('hex')}`,
    );
  if (slowestMs > MOST_MS) faults.push(`${target}: an input takes ${Math.round(slowestMs)} ms.`);
  if (growth > MOST_GROWTH)
    faults.push(`${target}: the time grows with the power ${growth.toFixed(1)} of the length.`);
  if (keptBytes > MOST_KEPT_BYTES) faults.push(`${target}: keeps ${keptBytes} bytes.`);
  return faults;
}
