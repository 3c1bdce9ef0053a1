import type { ObjectId } from 'mongodb';
import { after, MINUTE } from '../../src/platform/clock.ts';
import type { Limit } from '../../src/platform/limits/define-limit.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';

/** A limit that nothing but a test has. */
export function limitOfTest(key: string, times: number): Limit {
  // With `defineLimit` it would be in the tables of the documents: test files share their modules.
  return { key, times, windowMs: MINUTE } as Limit;
}

/** Counts uses of a limit by somebody, as if they had been made now. */
export async function setUses(
  { rateLimits, clock }: Pick<AppDeps, 'rateLimits' | 'clock'>,
  key: string,
  whose: string | ObjectId,
  count: number,
): Promise<void> {
  const uses = { count, resetAt: after(clock.now(), MINUTE) };
  await rateLimits.updateOne({ _id: `${key}:${whose}` }, { $set: uses }, { upsert: true });
}
