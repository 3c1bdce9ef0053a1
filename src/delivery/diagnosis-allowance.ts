import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, MINUTE } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

/** An owner may have so many diagnoses made in any minute (delivery rules). */
export const DIAGNOSES_A_MINUTE = 6;

const diagnosisAllowanceDefinition = {
  /** The owner. */
  _id: { type: String, required: true },
  /** When the newest diagnoses were asked for, at most `DIAGNOSES_A_MINUTE`, the oldest first. */
  askedAt: { type: [Date], required: true },
  /** Nothing is remembered after that. */
  expiresAt: { type: Date, required: true },
} as const;

/** How much of an owner's allowance of diagnoses is used, over all processes. */
export const diagnosisAllowanceSchema = new Schema(diagnosisAllowanceDefinition, {
  collection: 'diagnosis_allowances',
});
diagnosisAllowanceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 60 });

export type DiagnosisAllowance = Omit<InferRawDocType<typeof diagnosisAllowanceDefinition>, 'askedAt'> & {
  askedAt: Date[];
};

/**
 * Takes one diagnosis from an owner's allowance, in one conditional update.
 *
 * @returns null when it was taken; else when the next one may be
 */
export async function useDiagnosisAllowance(
  { diagnosisAllowances, clock }: { diagnosisAllowances: Collection<DiagnosisAllowance>; clock: Clock },
  ownerId: string,
): Promise<Date | null> {
  const now = clock.now();
  const hasRoom = {
    $or: [
      { [`askedAt.${DIAGNOSES_A_MINUTE - 1}`]: { $exists: false } },
      { 'askedAt.0': { $lte: after(now, -MINUTE) } },
    ],
  };
  const asked = { $concatArrays: [{ $ifNull: ['$askedAt', []] }, [now]] };
  for (;;) {
    try {
      await diagnosisAllowances.updateOne(
        { _id: ownerId, ...hasRoom },
        [{ $set: { askedAt: { $slice: [asked, -DIAGNOSES_A_MINUTE] }, expiresAt: after(now, MINUTE) } }],
        { upsert: true },
      );
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // There is no room, or another process made the document in the same moment.
    const full = await diagnosisAllowances.findOne({ _id: ownerId, $nor: [hasRoom] });
    if (full?.askedAt[0]) return after(full.askedAt[0], MINUTE);
  }
}
