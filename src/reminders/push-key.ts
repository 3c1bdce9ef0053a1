import { type InferRawDocType, Schema } from 'mongoose';

const pushKeyDefinition = {
  _id: { type: String, required: true },
  /** An uncompressed point of P-256, base64url: what browsers call `applicationServerKey`. */
  publicKey: { type: String, required: true },
  sealedPrivateKey: { type: String, required: true },
  createdAt: { type: Date, required: true },
} as const;

/** One document: the VAPID key (RFC 8292) that tells push services who sends. */
export const pushKeySchema = new Schema(pushKeyDefinition, { collection: 'push_keys' });

export type PushKey = InferRawDocType<typeof pushKeyDefinition>;
