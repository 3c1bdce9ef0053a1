import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, MINUTE } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

/**
 * A user may have us dial so often in any minute, whatever they press: a test vote, a listener's settings, a resume, a
 * change of what a probe asks, a check of a draft (docs/adr/0021-one-allowance-for-checks.md).
 */
export const CHECKS_A_MINUTE = 6;

const checkAllowanceDefinition = {
  /** The user. */
  _id: { type: String, required: true },
  /** When the newest checks were asked for, at most `CHECKS_A_MINUTE`, the oldest first. */
  askedAt: { type: [Date], required: true },
  /** Nothing is remembered after that. */
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
 * @returns null when it was taken; else when the next one may be
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
  const asked = { $concatArrays: [{ $ifNull: ['$askedAt', []] }, [now]] };
  for (;;) {
    try {
      await diagnosisAllowances.updateOne(
        { _id: userId, ...hasRoom },
        [{ $set: { askedAt: { $slice: [asked, -CHECKS_A_MINUTE] }, expiresAt: after(now, MINUTE) } }],
        { upsert: true },
      );
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // There is no room, or another process made the document in the same moment.
    const full = await diagnosisAllowances.findOne({ _id: userId, $nor: [hasRoom] });
    if (full?.askedAt[0]) return after(full.askedAt[0], MINUTE);
  }
}
