import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const mailDefinition = {
  /** Derived from the notification if it must be sent only once; else random. */
  _id: { type: String, required: true, maxlength: 120 },
  to: { type: String, required: true, maxlength: 254 },
  subject: { type: String, required: true, maxlength: 200 },
  /** Encrypted, because a link in it opens an account. Absent once the mail was sent or given up. */
  sealedText: { type: String },
  createdAt: { type: Date, required: true },
  /** When it may be sent next; absent once it was sent or given up. */
  nextAt: { type: Date },
  attempts: { type: Number, required: true },
  /** In mongod's time: until then no other worker may attempt to send. */
  leaseUntil: { type: Date },
  sentAt: { type: Date },
  givenUpAt: { type: Date },
  /** The reason of the last failed attempt. */
  lastFault: { type: String },
} as const;

/** How long the record of a mail is retained; its text is removed once it was sent or given up. */
export const MAIL_TTL_MS = 7 * DAY;

/** The outbox. Its mails are sent even after a failure of Redis or of workers. */
export const mailSchema = new Schema(mailDefinition, { collection: 'mails' });
mailSchema.index({ nextAt: 1 }, { partialFilterExpression: { nextAt: { $exists: true } } });
mailSchema.index({ createdAt: 1 }, { expireAfterSeconds: MAIL_TTL_MS / SECOND });

export type Mail = InferRawDocType<typeof mailDefinition>;
