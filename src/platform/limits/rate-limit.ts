import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock } from '../clock.ts';
import { retryOnDuplicateKey } from '../mongo.ts';
import type { Limit } from './define-limit.ts';

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

type LimitDeps = { rateLimits: Collection<RateLimit>; clock: Clock };

/** Null when the use is allowed; otherwise when the next one is. Refused uses are not counted. */
export async function useAllowance(deps: LimitDeps, limit: Limit): Promise<Date | null> {
  const { taken, resetAt } = await useAllowances(deps, limit, 1);
  return taken === 1 ? null : resetAt;
}

/** Counts as many uses as are left, at most `wanted`. */
export async function useAllowances(
  { rateLimits, clock }: LimitDeps,
  { key, times, windowMs }: Limit,
  wanted: number,
): Promise<{ taken: number; left: number; resetAt: Date }> {
  const now = clock.now();
  const begins = { $lte: [{ $ifNull: ['$resetAt', now] }, now] };
  const update = [
    {
      $set: {
        count: { $cond: [begins, 0, '$count'] },
        resetAt: { $cond: [begins, after(now, windowMs), '$resetAt'] },
      },
    },
    { $set: { granted: { $min: [wanted, { $max: [0, { $subtract: [times, '$count'] }] }] } } },
    { $set: { count: { $add: ['$count', '$granted'] } } },
  ];
  const used = await retryOnDuplicateKey(() =>
    rateLimits.findOneAndUpdate({ _id: key }, update, { upsert: true, returnDocument: 'after' }),
  );
  return {
    taken: used?.granted ?? 0,
    left: Math.max(0, times - (used?.count ?? 0)),
    resetAt: used?.resetAt ?? after(now, windowMs),
  };
}

export async function refund(
  { rateLimits }: Pick<LimitDeps, 'rateLimits'>,
  { key }: Pick<Limit, 'key'>,
  times = 1,
): Promise<void> {
  await rateLimits.updateOne({ _id: key, count: { $gte: times } }, { $inc: { count: -times } });
}

export type UsedUp<L extends Limit> = { limit: L; until: Date };

/** Counts one use of each limit, or none if one is used up. Returns the used up limit that allows the next use last. */
export async function takeAllOrNone<L extends Limit>(
  deps: LimitDeps,
  limits: L[],
): Promise<UsedUp<L> | null> {
  for (const [index, limit] of limits.entries()) {
    const until = await useAllowance(deps, limit);
    if (!until) continue;
    await refundAll(deps, limits.slice(0, index));
    return lastToReset([{ limit, until }, ...(await findUsedUp(deps, limits.slice(index + 1)))]);
  }
  return null;
}

export async function findUsedUp<L extends Limit>(
  { rateLimits, clock }: LimitDeps,
  limits: L[],
): Promise<UsedUp<L>[]> {
  if (limits.length === 0) return [];
  const keys = limits.map(({ key }) => key);
  const found = await rateLimits.find({ _id: { $in: keys }, resetAt: { $gt: clock.now() } }).toArray();
  return limits.flatMap((limit) => {
    const present = found.find(({ _id }) => _id === limit.key);
    return present && present.count >= limit.times ? [{ limit, until: present.resetAt }] : [];
  });
}

export function lastToReset<L extends Limit>(usedUp: UsedUp<L>[]): UsedUp<L> | null {
  return usedUp.toSorted((a, b) => b.until.getTime() - a.until.getTime())[0] ?? null;
}

export async function refundAll(deps: Pick<LimitDeps, 'rateLimits'>, limits: Limit[]): Promise<void> {
  await Promise.all(limits.map((limit) => refund(deps, limit)));
}
