import { type InferRawDocType, Schema } from 'mongoose';
import { defineMessage, type Text } from '../../language/t.ts';

/**
 * Why messages to a webhook were switched off.
 *
 * - `deleted`: Discord knows no such webhook (404).
 * - `unauthorized`: Discord refuses its token (401).
 */
export const OFF_REASONS = ['deleted', 'unauthorized'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

/** The reasons in words. */
export const OFF_TEXTS: Record<OffReason, Text> = {
  deleted: defineMessage('Discord says that the webhook does not exist any more.'),
  unauthorized: defineMessage('Discord refuses the token of the webhook.'),
};

const offDefinition = {
  at: { type: Date, required: true },
  reason: { type: String, enum: OFF_REASONS, required: true },
} as const;

const discordWebhookDefinition = {
  /** The server's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The webhook's id and token, sealed: whoever knows them can write to the channel. */
  sealed: { type: String, required: true },
  /** The last digits of the webhook's id, to recognise it. */
  ending: { type: String, required: true },
  setAt: { type: Date, required: true },
  /** The kinds of notifications that do not go to Discord. */
  kindsOff: { type: [String], required: true },
  /** Set when Discord no longer accepts it. */
  off: { type: new Schema(offDefinition, { _id: false }), default: null },
} as const;

/** The Discord webhook of a server. A collection of its own: nothing that reads servers can show it. */
export const discordWebhookSchema = new Schema(discordWebhookDefinition, {
  collection: 'discord_webhooks',
});

export type DiscordWebhook = InferRawDocType<typeof discordWebhookDefinition>;
