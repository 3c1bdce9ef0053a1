import { type InferRawDocType, Schema } from 'mongoose';

const appliedMigrationDefinition = {
  /** `0001-complete-servers` */
  _id: { type: String, required: true },
  /** When its first run ended; if the database was empty, when `tallyport migrate` recorded it without a run. */
  appliedAt: { type: Date, required: true },
} as const;

export const appliedMigrationSchema = new Schema(appliedMigrationDefinition, { collection: 'migrations' });

export type AppliedMigration = InferRawDocType<typeof appliedMigrationDefinition>;
