import type { ObjectId } from 'mongodb';
import type { OffReason } from '../../events/discord/off-reasons.ts';
import {
  endingOf,
  readWebhookAddress,
  type WebhookKey,
  webhookIn,
  webhookText,
} from '../../events/discord/webhook-address.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { NotificationsDeps } from '../deps.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import type { DiscordWebhook } from './discord-webhook.ts';

function contextOf(serverId: ObjectId): string {
  return `discord webhook of ${serverId.toHexString()}`;
}

/**
 * The choice of kinds does not change. The audit log gets only the last digits of the webhook's id.
 * @throws {InvalidDocumentError} for `webhook`, if the address is invalid
 */
export async function setWebhook(
  deps: NotificationsDeps,
  serverId: ObjectId,
  address: string,
  by: string,
): Promise<void> {
  const key = readWebhookAddress(address);
  const ending = endingOf(key);
  const sealed = deps.secrets.seal(webhookText(key), contextOf(serverId));
  await deps.discordWebhooks.updateOne(
    { _id: serverId },
    {
      $set: { sealed, ending, setAt: deps.clock.now(), off: null, failing: null },
      $setOnInsert: { kindsOff: [] },
    },
    { upsert: true },
  );
  await recordAudit(deps, { by, action: 'discord.set', serverId, details: { ending } });
}

/** Returns whether the server has a webhook. */
export async function chooseKinds(
  deps: NotificationsDeps,
  serverId: ObjectId,
  kinds: readonly Kind[],
  by: string,
): Promise<boolean> {
  const kindsOff = KIND_NAMES.filter((kind) => !kinds.includes(kind));
  const { matchedCount } = await deps.discordWebhooks.updateOne({ _id: serverId }, { $set: { kindsOff } });
  if (matchedCount === 0) return false;
  await recordAudit(deps, { by, action: 'discord.kinds', serverId, details: { kinds } });
  return true;
}

/**
 * Messages that wait for it are not sent. A webhook that was set after `setUntil` stays. Returns whether there was one.
 */
export async function removeWebhook(
  deps: NotificationsDeps,
  serverId: ObjectId,
  by: string,
  setUntil?: Date,
): Promise<boolean> {
  const { deletedCount } = await deps.discordWebhooks.deleteOne({
    _id: serverId,
    ...(setUntil ? { setAt: { $lte: setUntil } } : {}),
  });
  if (deletedCount === 0) return false;
  await recordAudit(deps, { by, action: 'discord.remove', serverId, details: {} });
  return true;
}

/** @throws {UnsealError} when the key that sealed them is lost */
export function openWebhook(secrets: SecretBox, { _id, sealed }: DiscordWebhook): WebhookKey {
  return webhookIn(secrets.open(sealed, contextOf(_id)));
}

/** If the webhook was replaced meanwhile, nothing changes. */
export async function switchOff(
  { discordWebhooks, clock }: NotificationsDeps,
  { _id, sealed }: DiscordWebhook,
  reason: OffReason,
): Promise<void> {
  const off = { at: clock.now(), reason };
  await discordWebhooks.updateOne({ _id, sealed, off: null }, { $set: { off } });
}

/** `reason` is null if Discord accepted the last message. If the webhook was replaced meanwhile, nothing changes. */
export async function markFailing(
  { discordWebhooks, clock }: NotificationsDeps,
  { _id, sealed, failing }: DiscordWebhook,
  reason: string | null,
): Promise<void> {
  if (!failing && reason === null) return;
  const marked = reason === null ? null : { at: clock.now(), reason };
  await discordWebhooks.updateOne({ _id, sealed }, { $set: { failing: marked } });
}
