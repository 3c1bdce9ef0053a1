import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, MINUTE } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

/**
 * How many outgoing connections a user may cause in any minute, in all of: test votes, listener settings, resumes,
 * changes of probe settings, checks of drafts (docs/adr/0021-one-allowance-for-checks.md).
 */
export const CHECKS_A_MINUTE = 6;

const checkAllowanceDefinition = {
  /** The id of the user. */
  _id: { type: String, required: true },
  /** When the newest checks were requested, at most `CHECKS_A_MINUTE`, the oldest first. */
  askedAt: { type: [Date], required: true },
  /** The document is deleted after this time. */
  expiresAt: { type: Date, required: true },
} as const;

/** How much of a user's allowance is used, over all processes. */
export const checkAllowanceSchema = new Schema(checkAllowanceDefinition, {
  collection: 'diagnosis_allowances',
});
checkAllowanceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 60 });

export type CheckAllowance = Omit<InferRawDocType<typeof checkAllowanceDefinition>, 'askedAt'> & {
  askedAt: Date[];
};

/**
 * Takes one check from a user's allowance, in one conditional update.
 *
 * @returns null when it was taken; otherwise when the next check is allowed
 */
export async function useCheckAllowance(
  { diagnosisAllowances, clock }: { diagnosisAllowances: Collection<CheckAllowance>; clock: Clock },
  userId: string,
): Promise<Date | null> {
  const now = clock.now();
  const hasRoom = {
    $or: [
      { [`askedAt.${CHECKS_A_MINUTE - 1}`]: { $exists: false } },
      { 'askedAt.0': { $lte: after(now, -MINUTE) } },
    ],
  };
  const requestedAt = { $concatArrays: [{ $ifNull: ['$askedAt', []] }, [now]] };
  for (;;) {
    try {
      await diagnosisAllowances.updateOne(
        { _id: userId, ...hasRoom },
        [{ $set: { askedAt: { $slice: [requestedAt, -CHECKS_A_MINUTE] }, expiresAt: after(now, MINUTE) } }],
        { upsert: true },
      );
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // On a duplicate key: the allowance is used up, or another process inserted the document at the same moment.
    const full = await diagnosisAllowances.findOne({ _id: userId, $nor: [hasRoom] });
    if (full?.askedAt[0]) return after(full.askedAt[0], MINUTE);
  }
}
