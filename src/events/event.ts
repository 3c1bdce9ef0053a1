import { createHash } from 'node:crypto';
import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';
import { EVENT_TYPES, type EventType } from './kinds.ts';

/** How long events, and what still waits of them, are kept. */
export const EVENT_TTL_MS = 30 * DAY;

const sendDefinition = {
  /** The subscription. */
  to: { type: Schema.Types.ObjectId, required: true },
  nextAt: { type: Date, required: true },
  attempts: { type: Number, required: true },
} as const;

/** For people, as a notification has it: `subject` follows the server's name and a colon. */
const textDefinition = {
  subject: { type: String, required: true },
  paragraphs: { type: [String], required: true },
  /** A path below the server's dashboard page: `/listener`. */
  part: { type: String, required: true },
} as const;

const nested = { _id: false } as const;

const eventDefinition = {
  /** The header `webhook-id`: the same for every destination and attempt. See `eventIdOf`. */
  _id: { type: String, required: true, maxlength: 60 },
  serverId: { type: Schema.Types.ObjectId, required: true },
  type: { type: String, enum: EVENT_TYPES, required: true },
  /** When it happened. */
  at: { type: Date, required: true },
  /** What it is about. Names are read from there when it is sent, so that they go with the player's. */
  voteId: { type: Schema.Types.UUID },
  reviewId: { type: Schema.Types.ObjectId },
  /** The other fields of the message's `data`: numbers, codes, times. Never a player's name. */
  data: { type: Schema.Types.Mixed, required: true },
  text: { type: new Schema(textDefinition, nested) },
  /** The subscriptions that it still has to be sent to; sent and given up ones are taken out. */
  sends: { type: [new Schema(sendDefinition, nested)], required: true },
  createdAt: { type: Date, required: true },
} as const;

/** Stored once, whoever gets it (docs/adr/0151-events-and-subscriptions.md). */
export const eventSchema = new Schema(eventDefinition, { collection: 'events' });
/** Both fields are of one array, so an `$elemMatch` reads what is due of one subscription alone. */
export const DUE_SENDS = 'due_sends';
eventSchema.index({ 'sends.to': 1, 'sends.nextAt': 1 }, { name: DUE_SENDS });
eventSchema.index({ serverId: 1, at: 1 });
eventSchema.index({ createdAt: 1 }, { expireAfterSeconds: EVENT_TTL_MS / SECOND });

export type EventSend = Nested<typeof sendDefinition>;
export type EventText = Nested<typeof textDefinition>;
export type StoredEvent = Omit<
  InferRawDocType<typeof eventDefinition>,
  'data' | 'sends' | 'text' | 'type'
> & {
  type: EventType;
  data: Record<string, unknown>;
  sends: EventSend[];
  text?: EventText;
};

/** The same for the same event, so that it is stored once. Without a dot, which separates the parts of a signature. */
export function eventIdOf(type: EventType, about: string): string {
  return `evt_${createHash('sha256').update(`${type}\n${about}`).digest('base64url').slice(0, 32)}`;
}
