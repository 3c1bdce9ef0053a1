import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const mailDefinition = {
  /** Derived from the event if the message must be sent only once; otherwise random. */
  _id: { type: String, required: true, maxlength: 120 },
  /** An e-mail address. */
  to: { type: String, required: true, maxlength: 254 },
  subject: { type: String, required: true, maxlength: 200 },
  /** Encrypted because a link in it may open an account. Removed after the message was sent or given up. */
  sealedText: { type: String },
  /** Ends such mails by one POST to it (RFC 8058). Absent if the recipient cannot choose. */
  stopUrl: { type: String, maxlength: 1_000 },
  createdAt: { type: Date, required: true },
  /** Absent if the message is held, sent or given up. */
  nextAt: { type: Date },
  attempts: { type: Number, required: true },
  /** Until this time (of mongod's clock), no other worker may try to send the message. */
  leaseUntil: { type: Date },
  sentAt: { type: Date },
  givenUpAt: { type: Date },
  lastFault: { type: String },
  serverId: { type: Schema.Types.ObjectId },
  /** The server was over its limit of mails, so this one is not sent. Removed when a later one reports it. */
  heldAt: { type: Date },
} as const;

/** Of the record. Its text is removed earlier. */
export const MAIL_TTL_MS = 7 * DAY;

/** Its mails are sent even after a failure of Redis or of workers. */
export const mailSchema = new Schema(mailDefinition, { collection: 'mails' });
mailSchema.index({ nextAt: 1 }, { partialFilterExpression: { nextAt: { $exists: true } } });
mailSchema.index({ createdAt: 1 }, { expireAfterSeconds: MAIL_TTL_MS / SECOND });
mailSchema.index({ serverId: 1, createdAt: 1 }, { partialFilterExpression: { serverId: { $exists: true } } });
mailSchema.index({ heldAt: 1 }, { partialFilterExpression: { heldAt: { $exists: true } } });

export type Mail = InferRawDocType<typeof mailDefinition>;
