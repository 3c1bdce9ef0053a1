import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const mailDefinition = {
  /** Made of what it is about, where that must be told only once; else random. */
  _id: { type: String, required: true, maxlength: 120 },
  to: { type: String, required: true, maxlength: 254 },
  subject: { type: String, required: true, maxlength: 200 },
  /** Sealed, since a link in it opens an account; absent once the mail was sent or given up. */
  sealedText: { type: String },
  createdAt: { type: Date, required: true },
  /** When it may be sent next; absent once it was sent or given up. */
  nextAt: { type: Date },
  attempts: { type: Number, required: true },
  /** On mongod's clock: until then the attempt under way is nobody else's. */
  leaseUntil: { type: Date },
  sentAt: { type: Date },
  givenUpAt: { type: Date },
  /** What came of the last attempt that did not succeed. */
  lastFault: { type: String },
} as const;

/** How long it can be seen that a mail was sent; its text is gone before. */
const TTL_MS = 7 * DAY;

/** The outbox: what is in it is sent, whatever happens to Redis and to workers. */
export const mailSchema = new Schema(mailDefinition, { collection: 'mails' });
mailSchema.index({ nextAt: 1 }, { partialFilterExpression: { nextAt: { $exists: true } } });
mailSchema.index({ createdAt: 1 }, { expireAfterSeconds: TTL_MS / SECOND });

export type Mail = InferRawDocType<typeof mailDefinition>;
