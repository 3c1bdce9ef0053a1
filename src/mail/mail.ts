import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const mailDefinition = {
  /** The id is derived from the notification if it must be sent only once; otherwise it is random. */
  _id: { type: String, required: true, maxlength: 120 },
  /** The address; for a Discord message, the id of the server whose webhook gets it. */
  to: { type: String, required: true, maxlength: 254 },
  subject: { type: String, required: true, maxlength: 200 },
  /** The encrypted text: a link in it may open an account. Absent once the mail was sent or given up. */
  sealedText: { type: String },
  createdAt: { type: Date, required: true },
  /** When it may be sent next; absent once it was sent or given up. */
  nextAt: { type: Date },
  attempts: { type: Number, required: true },
  /** Until when no other worker may attempt to send, by mongod's clock. */
  leaseUntil: { type: Date },
  sentAt: { type: Date },
  givenUpAt: { type: Date },
  /** The reason of the last failed attempt. */
  lastFault: { type: String },
  /** The server of a notification to its owner; absent in other mails. */
  serverId: { type: Schema.Types.ObjectId },
  /**
   * When the server's limit stopped the message, which is then only counted and not sent. Absent once it was counted.
   */
  heldAt: { type: Date },
} as const;

/** How long the record of a mail is retained; its text is removed once it was sent or given up. */
export const MAIL_TTL_MS = 7 * DAY;

/** An outbox. Its messages are sent even after a failure of Redis or of workers. */
function outboxSchema(collection: string): Schema {
  const schema = new Schema(mailDefinition, { collection });
  schema.index({ nextAt: 1 }, { partialFilterExpression: { nextAt: { $exists: true } } });
  schema.index({ createdAt: 1 }, { expireAfterSeconds: MAIL_TTL_MS / SECOND });
  schema.index({ serverId: 1, createdAt: 1 }, { partialFilterExpression: { serverId: { $exists: true } } });
  schema.index({ heldAt: 1 }, { partialFilterExpression: { heldAt: { $exists: true } } });
  return schema;
}

/** The outbox of mails. */
export const mailSchema = outboxSchema('mails');
/** Messages for the Discord webhooks of servers; a collection of its own, so that a slow Discord delays no mail. */
export const discordMessageSchema = outboxSchema('discord_messages');

export type Mail = InferRawDocType<typeof mailDefinition>;
