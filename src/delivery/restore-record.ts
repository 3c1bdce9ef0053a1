import { type InferRawDocType, Schema } from 'mongoose';

const heldDefinition = {
  serverId: { type: Schema.Types.ObjectId, required: true },
  votes: { type: Number, required: true },
} as const;

const restoreRecordDefinition = {
  /** The id of the backup. */
  _id: { type: String, required: true },
  /** When the backup began. */
  takenAt: { type: Date, required: true },
  startedAt: { type: Date, required: true },
  /** Absent until everything was restored. */
  finishedAt: { type: Date },
  /** Servers with votes that were open in the backup, with the number of these votes. */
  held: { type: [new Schema(heldDefinition, { _id: false })], required: true },
} as const;

/** The backup that this database was restored from. */
export const restoreRecordSchema = new Schema(restoreRecordDefinition, { collection: 'restores' });

export type RestoreRecord = InferRawDocType<typeof restoreRecordDefinition>;
