import { type InferRawDocType, Schema } from 'mongoose';

const restoreRecordDefinition = {
  /** The id of the backup. */
  _id: { type: String, required: true },
  /** When the backup began. */
  takenAt: { type: Date, required: true },
  startedAt: { type: Date, required: true },
  /** When it last restored some documents; a running restore updates this every few seconds. */
  progressAt: { type: Date, required: true },
  /** Absent until every document was restored. */
  finishedAt: { type: Date },
} as const;

/** The backup that this database was restored from. */
export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
