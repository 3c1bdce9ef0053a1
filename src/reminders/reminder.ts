import { createHash } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

/** A browser that does not vote for this long is forgotten. */
export const REMINDER_TTL_MS = 60 * DAY;

/** Of one browser, which stores the votes of as many servers (scripts/voted.js). */
export const MOST_REMINDED = 12;

const reminderDefinition = {
  /** The hash of the subscription's address. */
  _id: { type: String, required: true },
  /** The `PushSubscription`, encrypted: who knows its address could send to the browser. */
  sealed: { type: String, required: true },
  /** Of the push service, such as `fcm.googleapis.com`, with its port unless that is 443. */
  host: { type: String, required: true },
  /** The key with which the browser subscribed. */
  publicKey: { type: String, required: true },
  language: { type: String, required: true },
  /** The browser's time zone, such as `Europe/Berlin`. */
  timeZone: { type: String, required: true },
  /** The ids of this browser's votes: servers and names are read from them, and are not stored here. */
  votes: { type: [Schema.Types.UUID], required: true },
  /** Absent if the user was not signed in. */
  userId: { type: Schema.Types.ObjectId },
  /** When to send, or to try again; null until the next vote. */
  dueAt: { type: Date, default: null },
  /** Attempts since the last one that was accepted. */
  failures: { type: Number, required: true },
  sentAt: { type: Date },
  /** The last vote of this browser, or the press of the button. */
  usedAt: { type: Date, required: true },
  createdAt: { type: Date, required: true },
} as const;

/** A browser that wants to be reminded of its next votes, by web push (RFC 8030). */
export const reminderSchema = new Schema(reminderDefinition, { collection: 'reminders' });
reminderSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $type: 'date' } } });
reminderSchema.index({ userId: 1 }, { partialFilterExpression: { userId: { $type: 'objectId' } } });
reminderSchema.index({ usedAt: 1 }, { expireAfterSeconds: REMINDER_TTL_MS / SECOND });

export type Reminder = InferRawDocType<typeof reminderDefinition>;

/** MongoDB uses a partial index only for a filter with its condition. */
export const dueUntil = (now: Date) => ({ $lte: now, $type: 'date' }) as const;
export const ofUser = (userId: ObjectId) => ({ userId: { $eq: userId, $type: 'objectId' } }) as const;

export function reminderId(endpoint: string): string {
  return createHash('sha256').update(endpoint).digest('base64url');
}

/** The encryption context: a subscription cannot be opened under another reminder. */
export const contextOfReminder = (id: string) => `reminder ${id}`;

/** `voted`: the player has voted meanwhile. `silent`: it waits for the morning. */
export const REMINDER_ENDS = ['sent', 'voted', 'silent', 'gone', 'retry', 'given-up', 'refused'] as const;
export type ReminderEnd = (typeof REMINDER_ENDS)[number];
