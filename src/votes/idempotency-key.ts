import { type InferRawDocType, Schema } from 'mongoose';

const idempotencyKeyDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  key: { type: String, required: true },
  /** The name as the request gave it, trimmed. */
  username: { type: String, required: true },
  /** The vote is inserted with this id, by the request that completes the vote. */
  voteId: { type: Schema.Types.UUID, required: true },
  /** Checked on every read; the index only deletes expired keys. */
  expiresAt: { type: Date, required: true },
  /** The body of the first 200 response, byte for byte; null while the request is in progress. */
  answer: { type: String, default: null },
} as const;

/** A claimed `Idempotency-Key` (design rule 9). */
export const idempotencyKeySchema = new Schema(idempotencyKeyDefinition, { collection: 'idempotency_keys' });
idempotencyKeySchema.index({ serverId: 1, key: 1 }, { unique: true });
idempotencyKeySchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });

export type IdempotencyKey = InferRawDocType<typeof idempotencyKeyDefinition>;
