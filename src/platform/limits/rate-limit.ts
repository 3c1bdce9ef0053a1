import type { Collection, Document } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

const rateLimitDefinition = {
  /** What is limited, and for whom: `sign-in:address:192.0.2.7`. */
  _id: { type: String, required: true },
  count: { type: Number, required: true },
  /** The end of the window, when the count starts again at 0. */
  resetAt: { type: Date, required: true },
  /** How many uses the last call of `useAllowances` got. */
  granted: { type: Number },
} as const;

/** How often a limited action was done, counted over all processes. */
export const rateLimitSchema = new Schema(rateLimitDefinition, { collection: 'rate_limits' });
rateLimitSchema.index({ resetAt: 1 }, { expireAfterSeconds: 60 });

export type RateLimit = InferRawDocType<typeof rateLimitDefinition>;

/** At most `times` uses in a window of `windowMs` that begins with the first use. */
export type Allowance = { times: number; windowMs: number };

/**
 * Counts one use of the allowance of `key`. Refused uses are not counted.
 *
 * @returns null when the use is allowed; otherwise when the next use is allowed
 */
export async function useAllowance(
  { rateLimits, clock }: { rateLimits: Collection<RateLimit>; clock: Clock },
  key: string,
  { times, windowMs }: Allowance,
): Promise<Date | null> {
  const now = clock.now();
  const { begins, resetAt } = windowAt(now, windowMs);
  const limit = await upsertLimit(rateLimits, key, [
    { $set: { count: { $cond: [begins, 1, { $add: ['$count', 1] }] }, resetAt } },
    // `times + 1` means "refused"; the count does not grow further.
    { $set: { count: { $min: ['$count', times + 1] } } },
  ]);
  return limit && limit.count > times ? limit.resetAt : null;
}

/**
 * Counts up to `wanted` uses of the allowance of `key`, as many as are left.
 *
 * @returns how many uses were granted, and when the window ends
 */
export async function useAllowances(
  { rateLimits, clock }: { rateLimits: Collection<RateLimit>; clock: Clock },
  key: string,
  { times, windowMs }: Allowance,
  wanted: number,
): Promise<{ taken: number; resetAt: Date }> {
  const now = clock.now();
  const { begins, resetAt } = windowAt(now, windowMs);
  const limit = await upsertLimit(rateLimits, key, [
    { $set: { count: { $cond: [begins, 0, '$count'] }, resetAt } },
    { $set: { granted: { $min: [wanted, { $max: [0, { $subtract: [times, '$count'] }] }] } } },
    { $set: { count: { $add: ['$count', '$granted'] } } },
  ]);
  return { taken: limit?.granted ?? 0, resetAt: limit?.resetAt ?? after(now, windowMs) };
}

/** Expressions for a limit's update: whether a new window begins at `now`, and when the current one ends. */
function windowAt(now: Date, windowMs: number) {
  const begins = { $lte: [{ $ifNull: ['$resetAt', now] }, now] };
  return { begins, resetAt: { $cond: [begins, after(now, windowMs), '$resetAt'] } };
}

/** Updates the limit of `key`, or inserts it, and returns it as it is afterwards. */
async function upsertLimit(
  rateLimits: Collection<RateLimit>,
  key: string,
  update: Document[],
): Promise<RateLimit | null> {
  const upsert = () =>
    rateLimits.findOneAndUpdate({ _id: key }, update, { upsert: true, returnDocument: 'after' });
  try {
    return await upsert();
  } catch (error) {
    // If another process inserted the limit at the same moment: this call updates it.
    if (isDuplicateKey(error)) return upsert();
    throw error;
  }
}

/** Gives `times` uses back to an allowance. */
export async function refund(
  { rateLimits }: { rateLimits: Collection<RateLimit> },
  key: string,
  times = 1,
): Promise<void> {
  await rateLimits.updateOne({ _id: key, count: { $gte: times } }, { $inc: { count: -times } });
}
