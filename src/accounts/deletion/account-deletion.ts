import { type InferRawDocType, Schema } from 'mongoose';

const accountDeletionDefinition = {
  /** The user's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The audit entry and the last mail get ids made from this one, so that each is written once. */
  deletionId: { type: Schema.Types.ObjectId, required: true },
  requestedAt: { type: Date, required: true },
  dueAt: { type: Date, required: true },
  /** SHA-256 of the token of the link that cancels the deletion. */
  token: { type: String, required: true },
  /** From then on the deletion cannot be cancelled. */
  begunAt: { type: Date },
  /** At `begunAt`, for the audit log and the last mail. */
  email: { type: String },
  /** Those still to be removed; absent before `begunAt`. */
  serverIds: { type: [Schema.Types.ObjectId], default: undefined },
} as const;

/** Requested deletions of accounts. The document is deleted last, so that an interrupted deletion can be completed. */
export const accountDeletionSchema = new Schema(accountDeletionDefinition, {
  collection: 'account_deletions',
});
accountDeletionSchema.index({ dueAt: 1 });
accountDeletionSchema.index({ token: 1 }, { unique: true });

export type AccountDeletion = InferRawDocType<typeof accountDeletionDefinition>;
