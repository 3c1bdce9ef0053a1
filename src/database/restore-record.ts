import { type InferRawDocType, Schema } from 'mongoose';

/** The id of the record. Because it is fixed, a database has at most one record, and only one restore can insert it. */
export const RESTORE_RECORD_ID = 'restore';

/** Matches the record of a restore that has not ended. */
export const UNFINISHED = { _id: RESTORE_RECORD_ID, finishedAt: { $exists: false } } as const;

const nested = { _id: false } as const;

const restoredDefinition = {
  documents: { type: Number, required: true },
  /** How many votes the restore holds back: in the backup they were waiting, being sent or already held back. */
  heldVotes: { type: Number, required: true },
  /** The number of waiting mails and Discord messages that the restore dropped, so that they are not sent. */
  droppedMessages: { type: Number, required: true },
  /** The number of requested account deletions whose waiting period starts again because of the restore. */
  repeatedDeletions: { type: Number, required: true },
} as const;

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
  /** What was restored. Set when all documents are restored and only the migration is left. */
  restored: { type: new Schema(restoredDefinition, nested) },
  /** Set when the migration is done as well. */
  finishedAt: { type: Date },
} as const;

/** The record of the restore that fills or filled this database. */
export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
export type RestoredDocuments = Omit<InferRawDocType<typeof restoredDefinition>, '_id'>;
