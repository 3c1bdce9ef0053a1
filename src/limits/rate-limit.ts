import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

const rateLimitDefinition = {
  /** What is limited, and for whom: `sign-in:address:192.0.2.7`. */
  _id: { type: String, required: true },
  count: { type: Number, required: true },
  /** The window's end: it counts from nothing again. */
  resetAt: { type: Date, required: true },
} as const;

/** How often somebody did what is limited, over all web processes. */
export const rateLimitSchema = new Schema(rateLimitDefinition, { collection: 'rate_limits' });
rateLimitSchema.index({ resetAt: 1 }, { expireAfterSeconds: 60 });

export type RateLimit = InferRawDocType<typeof rateLimitDefinition>;

/** So many times in so long, counted from the first. */
export type Allowance = { times: number; windowMs: number };

/**
 * Takes one of the times that `allowance` gives to `key`. Those that were refused do not count.
 *
 * @returns null when it is allowed; else when the next one will be
 */
export async function takeTurn(
  { rateLimits, clock }: { rateLimits: Collection<RateLimit>; clock: Clock },
  key: string,
  { times, windowMs }: Allowance,
): Promise<Date | null> {
  const now = clock.now();
  const begins = { $lte: [{ $ifNull: ['$resetAt', now] }, now] };
  const take = () =>
    rateLimits.findOneAndUpdate(
      { _id: key },
      [
        {
          $set: {
            count: { $cond: [begins, 1, { $add: ['$count', 1] }] },
            resetAt: { $cond: [begins, after(now, windowMs), '$resetAt'] },
          },
        },
        // One more than allowed says "refused"; it never grows beyond that.
        { $set: { count: { $min: ['$count', times + 1] } } },
      ],
      { upsert: true, returnDocument: 'after' },
    );
  const taken = await take().catch((error) => {
    // Two firsts at once: the other one has made it.
    if (isDuplicateKey(error)) return take();
    throw error;
  });
  return taken && taken.count > times ? taken.resetAt : null;
}

/** Gives back what `takeTurn` took: what came of it does not count. */
export async function giveBackTurn(
  { rateLimits }: { rateLimits: Collection<RateLimit> },
  key: string,
): Promise<void> {
  await rateLimits.updateOne({ _id: key, count: { $gt: 0 } }, { $inc: { count: -1 } });
}
