import type { WithId } from 'mongodb';
import { type DiscordAnswer, postMessage } from '../../events/discord/discord-client.ts';
import { OFF_REASONS } from '../../events/discord/off-reasons.ts';
import { UnsealError } from '../../platform/secrets.ts';
import type { Server } from '../../servers/server.ts';
import type { NotificationsDeps } from '../deps.ts';
import type { NotificationText } from '../notification-text.ts';
import { discordBody } from './discord-body.ts';
import { markFailing, openWebhook, switchOff } from './webhooks.ts';

/** `unreadable`: the stored address cannot be decrypted. */
export type WebhookTest = DiscordAnswer | { kind: 'none' | 'unreadable' };

export async function testWebhook(
  deps: NotificationsDeps,
  server: WithId<Server>,
  signal: AbortSignal,
): Promise<WebhookTest> {
  const webhook = await deps.discordWebhooks.findOne({ _id: server._id });
  if (!webhook) return { kind: 'none' };
  const text: NotificationText = {
    id: 'test',
    tone: 'quiet',
    subject: 'test message',
    paragraphs: ['Messages about this server arrive here. Change them in its settings:'],
    part: '/settings#discord',
  };
  const body = discordBody(deps.config, server, text, deps.clock.now());
  let answer: DiscordAnswer;
  try {
    answer = await postMessage(deps, openWebhook(deps.secrets, webhook), body, signal);
  } catch (error) {
    if (error instanceof UnsealError) return { kind: 'unreadable' };
    throw error;
  }
  const { _id, sealed } = webhook;
  const reason = OFF_REASONS.find((one) => one === answer.kind);
  if (reason) await switchOff(deps, webhook, reason);
  if (answer.kind === 'refused') await markFailing(deps, webhook, answer.reason);
  if (answer.kind === 'sent')
    await deps.discordWebhooks.updateOne({ _id, sealed }, { $set: { off: null, failing: null } });
  return answer;
}
