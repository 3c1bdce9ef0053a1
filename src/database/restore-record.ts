import { type InferRawDocType, Schema } from 'mongoose';

/** The id of the record. Because it is fixed, a database has at most one record, and only one restore can insert it. */
export const RESTORE_RECORD_ID = 'restore';

/** Matches the record of a restore that has not ended. */
export const UNFINISHED = { _id: RESTORE_RECORD_ID, finishedAt: { $exists: false } } as const;

const restoreRecordDefinition = {
  /** Always `RESTORE_RECORD_ID`. */
  _id: { type: String, required: true },
  backupId: { type: String, required: true },
  /** The id of the run. Running the same command again makes a new id. */
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

/** The record of the restore that fills or filled this database. */
export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
