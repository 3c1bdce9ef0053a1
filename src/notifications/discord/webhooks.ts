import type { Collection, ObjectId, WithId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../../platform/audit/audit-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { type SecretBox, UnsealError } from '../../platform/secrets.ts';
import type { Server } from '../../servers/server.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import { discordBody } from './discord-embed.ts';
import type { DiscordWebhook, OffReason } from './discord-webhook.ts';
import { type DiscordAnswer, type PostDeps, postMessage } from './post-message.ts';
import { readWebhookAddress, type WebhookKey } from './webhook-address.ts';

/** Dependencies of a server's webhook. */
export type Webhooks = {
  discordWebhooks: Collection<DiscordWebhook>;
  auditLog: Collection<AuditEntry>;
  secrets: SecretBox;
  clock: Clock;
};

/** How many digits of a webhook's id are shown. */
const ENDING = 4;

function contextOf(serverId: ObjectId): string {
  return `discord webhook of ${serverId.toHexString()}`;
}

/**
 * Sets or replaces the webhook of a server. The chosen kinds are kept.
 *
 * @param by - who does it, for the audit log, which gets only the last digits of the webhook's id
 * @throws {InvalidDocumentError} for `webhook`
 */
export async function setWebhook(
  deps: Webhooks,
  serverId: ObjectId,
  address: string,
  by: string,
): Promise<void> {
  const { id, token } = readWebhookAddress(address);
  const ending = id.slice(-ENDING);
  const sealed = deps.secrets.seal(`${id}/${token}`, contextOf(serverId));
  await deps.discordWebhooks.updateOne(
    { _id: serverId },
    { $set: { sealed, ending, setAt: deps.clock.now(), off: null }, $setOnInsert: { kindsOff: [] } },
    { upsert: true },
  );
  await recordAudit(deps, { by, action: 'discord.set', serverId, details: { ending } });
}

/** Chooses the kinds that go to Discord. Returns whether the server has a webhook. */
export async function chooseKinds(
  deps: Webhooks,
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

/** Removes the webhook of a server. Messages that wait for it are not sent. Returns whether there was one. */
export async function removeWebhook(
  deps: Pick<Webhooks, 'discordWebhooks' | 'auditLog' | 'clock'>,
  serverId: ObjectId,
  by: string,
): Promise<boolean> {
  const { deletedCount } = await deps.discordWebhooks.deleteOne({ _id: serverId });
  if (deletedCount === 0) return false;
  await recordAudit(deps, { by, action: 'discord.remove', serverId, details: {} });
  return true;
}

/** @throws {UnsealError} when the key that sealed it is lost */
export function openWebhook(secrets: SecretBox, { _id, sealed }: DiscordWebhook): WebhookKey {
  const [id = '', token = ''] = secrets.open(sealed, contextOf(_id)).split('/');
  return { id, token };
}

/** Switches a webhook off that Discord does not accept. One that was replaced meanwhile is not changed. */
export async function switchOff(
  { discordWebhooks, clock }: Pick<Webhooks, 'discordWebhooks' | 'clock'>,
  { _id, sealed }: DiscordWebhook,
  reason: OffReason,
): Promise<void> {
  const off = { at: clock.now(), reason };
  await discordWebhooks.updateOne({ _id, sealed, off: null }, { $set: { off } });
}

/** The result of a test message: `none` without a webhook, `unreadable` when its stored address cannot be read. */
export type WebhookTest = DiscordAnswer | { kind: 'none' | 'unreadable' };

/** Posts a test message. The answer switches the webhook off, or on again. */
export async function testWebhook(
  deps: Webhooks & { config: PostDeps & Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'> },
  server: WithId<Server>,
  signal: AbortSignal,
): Promise<WebhookTest> {
  const webhook = await deps.discordWebhooks.findOne({ _id: server._id });
  if (!webhook) return { kind: 'none' };
  const notice = {
    id: 'test',
    tone: 'quiet',
    subject: 'test message',
    paragraphs: ['Messages about this server arrive here. Change them in its settings:'],
    part: '/settings#discord',
  } as const;
  const body = discordBody(
    deps.config,
    server,
    { ...notice, paragraphs: [...notice.paragraphs] },
    deps.clock.now(),
  );
  let answer: DiscordAnswer;
  try {
    answer = await postMessage(deps.config, openWebhook(deps.secrets, webhook), body, signal);
  } catch (error) {
    if (error instanceof UnsealError) return { kind: 'unreadable' };
    throw error;
  }
  const { _id, sealed } = webhook;
  if (answer.kind === 'deleted' || answer.kind === 'unauthorized')
    await switchOff(deps, webhook, answer.kind);
  if (answer.kind === 'sent') await deps.discordWebhooks.updateOne({ _id, sealed }, { $set: { off: null } });
  return answer;
}
