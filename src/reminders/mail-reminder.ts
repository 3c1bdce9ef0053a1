import { type InferRawDocType, Schema } from 'mongoose';

const mailReminderDefinition = {
  /** The user's id. The document exists while the user wants reminders by mail. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The ids of the last votes that the user cast while signed in, the newest last. */
  votes: { type: [Schema.Types.UUID], required: true },
  /** When to send; null until the next vote. */
  dueAt: { type: Date, default: null },
  sentAt: { type: Date },
  /** When the user voted last, or switched the reminder on. */
  usedAt: { type: Date, required: true },
  /** In the link of each mail that ends the reminder without a sign-in. It allows nothing else. */
  stopToken: { type: String, required: true },
  createdAt: { type: Date, required: true },
} as const;

/** A user who wants a mail when they can vote again. */
export const mailReminderSchema = new Schema(mailReminderDefinition, { collection: 'mail_reminders' });
mailReminderSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $type: 'date' } } });
mailReminderSchema.index({ stopToken: 1 }, { unique: true });

export type MailReminder = InferRawDocType<typeof mailReminderDefinition>;
