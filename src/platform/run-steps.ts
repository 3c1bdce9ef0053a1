import type { Logger } from './log.ts';
import { isTransientError } from './transient-errors.ts';

type Steps = Record<string, () => Promise<number>>;

/**
 * Runs each step also if an earlier one failed: otherwise a lasting error of one step would stop the later ones for
 * ever.
 *
 * @throws the first error that an operator must resolve, else the first error; the signal's reason when it is aborted
 */
export async function runSteps<S extends Steps>(
  { log }: { log: Logger },
  work: string,
  steps: S,
  signal: AbortSignal,
): Promise<Record<keyof S, number>> {
  const results: Record<string, number> = {};
  const errors: unknown[] = [];
  for (const [step, run] of Object.entries(steps)) {
    signal.throwIfAborted();
    try {
      results[step] = await run();
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
      log.warn({ event: 'work.step_failed', work, step, reason: String(error) });
    }
  }
  if (errors.length > 0) throw errors.find((error) => !isTransientError(error)) ?? errors[0];
  return results as Record<keyof S, number>;
}
