import { type InferRawDocType, Schema } from 'mongoose';
import { OFF_REASONS } from '../../events/discord/off-reasons.ts';

const offDefinition = {
  at: { type: Date, required: true },
  reason: { type: String, enum: OFF_REASONS, required: true },
} as const;

const failingDefinition = {
  at: { type: Date, required: true },
  /** `HTTP 400, 50035` */
  reason: { type: String, required: true },
} as const;

const discordWebhookDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** Its id and token, and the thread's id if there is one: they let anybody write to the channel. */
  sealed: { type: String, required: true },
  /** The last digits of its id, by which the owner recognises the webhook. */
  ending: { type: String, required: true },
  setAt: { type: Date, required: true },
  kindsOff: { type: [String], required: true },
  off: { type: new Schema(offDefinition, { _id: false }), default: null },
  /** Discord refused the last message for another reason. Later messages are still sent. */
  failing: { type: new Schema(failingDefinition, { _id: false }), default: null },
} as const;

/** In a collection of its own, so that code that reads servers cannot show it. */
export const discordWebhookSchema = new Schema(discordWebhookDefinition, {
  collection: 'discord_webhooks',
});

export type DiscordWebhook = InferRawDocType<typeof discordWebhookDefinition>;
