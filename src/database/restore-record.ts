import { type InferRawDocType, Schema } from 'mongoose';

/** A fixed id, so a database has at most one record, and only one restore can insert it. */
export const RESTORE_RECORD_ID = 'restore';

export const UNFINISHED = { _id: RESTORE_RECORD_ID, finishedAt: { $exists: false } } as const;

const restoreRecordDefinition = {
  _id: { type: String, required: true },
  backupId: { type: String, required: true },
  /** Running the same command again makes a new id. */
  runId: { type: Schema.Types.UUID, required: true },
  /** When the backup began. */
  takenAt: { type: Date, required: true },
  /** `startedAt` and the times below are by mongod's clock. */
  startedAt: { type: Date, required: true },
  /** A running restore updates this every few seconds. */
  progressAt: { type: Date, required: true },
  /** Set when every document is restored and the migration is done. */
  finishedAt: { type: Date },
} as const;

export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
