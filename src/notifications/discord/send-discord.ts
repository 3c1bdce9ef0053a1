import { ObjectId } from 'mongodb';
import { type DiscordAnswer, postMessage } from '../../events/discord/discord-client.ts';
import { OFF_ADVICE, OFF_TEXTS, type OffReason } from '../../events/discord/off-reasons.ts';
import { t } from '../../language/t.ts';
import { putMail } from '../../mail/outbox.ts';
import { type MessageResult, sendMessage } from '../../mail/send-mail.ts';
import type { SendLetter, SendLetterResult } from '../../mail/smtp.ts';
import { HOUR } from '../../platform/clock.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { audienceOf } from '../audience.ts';
import type { NotificationsDeps } from '../deps.ts';
import { mailOf, type NotificationText } from '../notification-text.ts';
import type { DiscordWebhook } from './discord-webhook.ts';
import { markFailing, openWebhook, switchOff } from './webhooks.ts';

/** After this time, it is no longer news. */
const GIVEN_UP_MS = 6 * HOUR;

/** A webhook that Discord does not accept is switched off. */
export function sendDiscordMessage(
  deps: NotificationsDeps,
  messageId: string,
  signal: AbortSignal,
): Promise<MessageResult> {
  const sender = {
    ...deps,
    messages: deps.discordMessages,
    channel: 'discord' as const,
    givenUpMs: GIVEN_UP_MS,
    send: toWebhook(deps),
  };
  return sendMessage(sender, messageId, signal);
}

function toWebhook(deps: NotificationsDeps): SendLetter {
  return async ({ to, text }, signal) => {
    const webhook = await deps.discordWebhooks.findOne({ _id: new ObjectId(to), off: null });
    if (!webhook) return { kind: 'refused', reason: 'the server has no webhook, or it is off' };
    try {
      const answer = await postMessage(deps, openWebhook(deps.secrets, webhook), JSON.parse(text), signal);
      return await resultOf(deps, webhook, answer);
    } catch (error) {
      if (error instanceof UnsealError) return { kind: 'refused', reason: error.message };
      throw error;
    }
  };
}

async function resultOf(
  deps: NotificationsDeps,
  webhook: DiscordWebhook,
  answer: DiscordAnswer,
): Promise<SendLetterResult> {
  switch (answer.kind) {
    case 'sent':
      await markFailing(deps, webhook, null);
      return { kind: 'sent' };
    case 'deleted':
    case 'unauthorized':
    case 'needs-thread':
    case 'no-forum':
    case 'thread-gone': {
      // If the owner has replaced the webhook meanwhile, the message goes to the new one.
      const now = await deps.discordWebhooks.findOne({ _id: webhook._id });
      if (now && now.sealed !== webhook.sealed)
        return { kind: 'failed', reason: 'the webhook was replaced', retryAfterMs: 0 };
      // If the process dies before the webhook is switched off, the next attempt repeats both steps, and the mail's id
      // prevents a second mail.
      await mailOff(deps, webhook, answer.kind);
      await switchOff(deps, webhook, answer.kind);
      deps.log.info({ event: 'discord.off', serverId: webhook._id.toHexString(), reason: answer.kind });
      return { kind: 'refused', reason: `the webhook is ${answer.kind}` };
    }
    case 'limited':
      return { kind: 'failed', reason: 'HTTP 429', retryAfterMs: answer.retryAfterMs };
    case 'no-message':
    case 'blocked':
      return { kind: 'failed', reason: 'address-refused' };
    case 'refused':
      if (!webhook.failing) await mailFailing(deps, webhook, answer.reason);
      await markFailing(deps, webhook, answer.reason);
      return { kind: 'refused', reason: answer.reason };
    case 'unavailable':
      return { kind: 'failed', reason: answer.reason };
  }
}

function mailOff(deps: NotificationsDeps, { _id, setAt }: DiscordWebhook, reason: OffReason): Promise<void> {
  return mailOwner(deps, _id, (name) => ({
    id: `discord-off:${_id.toHexString()}:${setAt.getTime()}`,
    tone: 'bad',
    subject: 'messages to Discord are off',
    paragraphs: [
      `${t(OFF_TEXTS[reason])} So no more messages about ${name} are sent to Discord.`,
      `${t(OFF_ADVICE[reason])} The address belongs into the server’s settings:`,
    ],
    part: '/settings#discord',
  }));
}

/** Mails the owner that Discord refuses, at most once a day. */
function mailFailing(deps: NotificationsDeps, { _id, setAt }: DiscordWebhook, reason: string): Promise<void> {
  return mailOwner(deps, _id, (name) => ({
    id: `discord-failing:${_id.toHexString()}:${setAt.getTime()}:${dayOf(deps.clock.now())}`,
    tone: 'attention',
    subject: 'Discord refuses messages',
    paragraphs: [
      `Discord refused a message about ${name} (${reason}). The message is lost; the next ones are tried.`,
      'Send a test message in the server’s settings. If it is refused too, enter the address of another webhook there:',
    ],
    part: '/settings#discord',
  }));
}

/** Whatever kinds of mail the owner chose, unless they switched all mails off. */
async function mailOwner(
  deps: NotificationsDeps,
  serverId: ObjectId,
  textAbout: (server: string) => NotificationText,
): Promise<void> {
  const audience = await audienceOf(deps, serverId);
  if (!audience?.owner || audience.owner.wantsMail === false) return;
  const { server, owner } = audience;
  const text = textAbout(server.name);
  await putMail(deps, { id: text.id, serverId, ...mailOf(deps.config, { server, owner }, text) });
}
