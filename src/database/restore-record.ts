import { type InferRawDocType, Schema } from 'mongoose';

/** The id of the record: a database has one or none, so only one restore can make it. */
export const RESTORE_RECORD_ID = 'restore';

/** The record of a restore that has not ended. */
export const UNFINISHED = { _id: RESTORE_RECORD_ID, finishedAt: { $exists: false } } as const;

const nested = { _id: false } as const;

const restoredDefinition = {
  documents: { type: Number, required: true },
  /** The number of votes that were open, or held back already: they are held back. */
  heldVotes: { type: Number, required: true },
  /** The number of waiting mails and Discord messages: they are not sent. */
  droppedMessages: { type: Number, required: true },
  /** The number of requested deletions of accounts: they wait for their whole time again. */
  repeatedDeletions: { type: Number, required: true },
} as const;

const restoreRecordDefinition = {
  /** `RESTORE_RECORD_ID`. */
  _id: { type: String, required: true },
  backupId: { type: String, required: true },
  /** Identifies the run that restores: the same command again is another run. */
  runId: { type: Schema.Types.UUID, required: true },
  /** When the backup began. */
  takenAt: { type: Date, required: true },
  /** In mongod's time, as all following ones. */
  startedAt: { type: Date, required: true },
  /** A running restore updates this every few seconds. */
  progressAt: { type: Date, required: true },
  /** What was restored. Absent until every document was; then only the migration is missing. */
  restored: { type: new Schema(restoredDefinition, nested) },
  /** Absent until the database is migrated too. */
  finishedAt: { type: Date },
} as const;

/** The restore that this database comes from. */
export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
export type RestoredDocuments = Omit<InferRawDocType<typeof restoredDefinition>, '_id'>;
