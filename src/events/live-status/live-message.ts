import { type InferRawDocType, Schema } from 'mongoose';
import { defineMessage, type Text } from '../../language/t.ts';
import type { Nested } from '../../platform/document.ts';
import { OFF_ADVICE, OFF_REASONS, OFF_TEXTS } from '../discord/off-reasons.ts';

/** `unconfirmed`: Discord did not answer several posts, and may show each; `unreadable`: the stored address. */
export const STOP_REASONS = [...OFF_REASONS, 'unconfirmed', 'unreadable'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export const STOP_TEXTS: Record<StopReason, { why: Text; advice: Text }> = {
  deleted: { why: OFF_TEXTS.deleted, advice: OFF_ADVICE.deleted },
  unauthorized: { why: OFF_TEXTS.unauthorized, advice: OFF_ADVICE.unauthorized },
  'needs-thread': { why: OFF_TEXTS['needs-thread'], advice: OFF_ADVICE['needs-thread'] },
  'no-forum': { why: OFF_TEXTS['no-forum'], advice: OFF_ADVICE['no-forum'] },
  'thread-gone': { why: OFF_TEXTS['thread-gone'], advice: OFF_ADVICE['thread-gone'] },
  unconfirmed: {
    why: defineMessage('Discord did not say whether it posted the message, several times in a row.'),
    advice: defineMessage('Delete the messages that it did post, and start the live status again.'),
  },
  unreadable: {
    why: defineMessage('The stored address cannot be read.'),
    advice: defineMessage('Enter the address of the webhook again.'),
  },
};

const stoppedDefinition = {
  at: { type: Date, required: true },
  reason: { type: String, enum: STOP_REASONS, required: true },
} as const;

const liveMessageDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** Absent when the owner removed or replaced it: then it is to be deleted in Discord, and the document with it. */
  isCurrent: { type: Boolean },
  removedAt: { type: Date },
  /** The webhook's id, token and thread: they let anybody write to the channel. */
  sealed: { type: String, required: true },
  /** The last digits of the webhook's id, by which the owner recognises it. */
  ending: { type: String, required: true },
  /** Or started again. */
  setAt: { type: Date, required: true },
  /** As Discord shows it; absent until Discord was asked. */
  webhookName: { type: String },
  /** Discord's id of the message; absent until it is posted, and after it was deleted there. */
  messageId: { type: String },
  /** Posts in a row of which it is not known whether Discord shows them. Counted before they are sent. */
  posts: { type: Number, required: true },
  /** Hashes: of the stored data that the last look saw, and of what Discord shows. */
  seen: { type: String },
  shown: { type: String },
  editedAt: { type: Date },
  /** When Discord last confirmed that it has the message. */
  askedAt: { type: Date },
  /** Nothing is sent before. Absent while it is stopped. */
  nextAt: { type: Date },
  /** Increases with each run: an earlier one that was delayed stores nothing. */
  runs: { type: Number, required: true },
  /** Until this time (of mongod's clock), no other worker may send. */
  leaseUntil: { type: Date },
  /** In a row; the delay grows with it. */
  failures: { type: Number, required: true },
  lastReason: { type: String },
  stopped: { type: new Schema(stoppedDefinition, { _id: false }) },
} as const;

/** One message in Discord that shows a server's status. Code that reads servers cannot show its webhook. */
export const liveMessageSchema = new Schema(liveMessageDefinition, { collection: 'live_messages' });
liveMessageSchema.index({ serverId: 1 }, { unique: true, partialFilterExpression: { isCurrent: true } });
liveMessageSchema.index({ nextAt: 1 }, { partialFilterExpression: { nextAt: { $exists: true } } });

export type LiveMessage = Omit<InferRawDocType<typeof liveMessageDefinition>, 'stopped'> & {
  stopped?: Nested<typeof stoppedDefinition>;
};
