import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, MINUTE } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';
import { defineLimit } from './define-limit.ts';

/** A check opens outgoing connections (docs/adr/0021-one-allowance-for-checks.md). */
export const CHECKS = defineLimit({
  key: 'check',
  what: 'Test votes, changed listener settings, resumes, changed games and query ports, moves, checks of drafts, and of destinations of events new addresses, resumes, tests and replays together',
  of: 'user',
  times: 6,
  windowMs: MINUTE,
  beyond: '429',
});

const checkAllowanceDefinition = {
  _id: { type: String, required: true },
  /** When the newest checks were requested, the oldest first; at most `CHECKS.times`. */
  askedAt: { type: [Date], required: true },
  expiresAt: { type: Date, required: true },
} as const;

export const checkAllowanceSchema = new Schema(checkAllowanceDefinition, {
  collection: 'diagnosis_allowances',
});
checkAllowanceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 60 });

export type CheckAllowance = Omit<InferRawDocType<typeof checkAllowanceDefinition>, 'askedAt'> & {
  askedAt: Date[];
};

/** Null when the check is allowed; otherwise when the next one is. A refused check is not counted. */
export async function useCheckAllowance(
  { diagnosisAllowances, clock }: { diagnosisAllowances: Collection<CheckAllowance>; clock: Clock },
  userId: string,
): Promise<Date | null> {
  const now = clock.now();
  const hasRoom = {
    $or: [
      { [`askedAt.${CHECKS.times - 1}`]: { $exists: false } },
      { 'askedAt.0': { $lte: after(now, -CHECKS.windowMs) } },
    ],
  };
  const requestedAt = { $concatArrays: [{ $ifNull: ['$askedAt', []] }, [now]] };
  for (;;) {
    try {
      await diagnosisAllowances.updateOne(
        { _id: userId, ...hasRoom },
        [
          {
            $set: {
              askedAt: { $slice: [requestedAt, -CHECKS.times] },
              expiresAt: after(now, CHECKS.windowMs),
            },
          },
        ],
        { upsert: true },
      );
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // A duplicate key has two possible causes: the allowance is used up, or another process inserted the document at
    // the same moment. This read finds out which; in the second case the loop tries again.
    const full = await diagnosisAllowances.findOne({ _id: userId, $nor: [hasRoom] });
    if (full?.askedAt[0]) return after(full.askedAt[0], CHECKS.windowMs);
  }
}
