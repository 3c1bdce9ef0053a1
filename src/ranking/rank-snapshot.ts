import { type InferRawDocType, Schema } from 'mongoose';

const rankSnapshotDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true },
  /** At the end of each UTC day: `{'01': 12, '21': 3}`. A missing day is a gap. */
  days: { type: Schema.Types.Mixed, required: true },
} as const;

/** One document per month, never deleted. */
export const rankSnapshotSchema = new Schema(rankSnapshotDefinition, { collection: 'rank_snapshots' });
rankSnapshotSchema.index({ serverId: 1, month: 1 }, { unique: true });

export type RankSnapshot = Omit<InferRawDocType<typeof rankSnapshotDefinition>, 'days'> & {
  days: Record<string, number>;
};
