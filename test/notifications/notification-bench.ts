import type { User } from '../../src/accounts/user.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import { dueMessages } from '../../src/mail/send-mail.ts';
import { sendDiscordMessage } from '../../src/notifications/discord/send-discord.ts';
import { setWebhook } from '../../src/notifications/discord/webhooks.ts';
import { notifyOwners } from '../../src/notifications/notify-owners.ts';
import { openDeliveryDeps } from '../support/delivering.ts';
import { type FakeDiscord, startFakeDiscord } from '../support/fake-discord.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';

export const NEVER = new AbortController().signal;

/** A platform with a fake Discord, and a server with an owner and a webhook. */
export async function notificationBench({
  user = {},
  env = {},
}: {
  user?: Partial<User>;
  env?: Record<string, string>;
} = {}) {
  const discord = await startFakeDiscord();
  discord.hasLimits = false;
  const deps = await openDeliveryDeps({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
    PUBLIC_URL: 'https://example.org/listing',
    DISCORD_API_URL: discord.url,
    ...env,
  });
  const { clock } = deps;
  const ownerId = await addOwner(deps, user);
  const serverId = await addOwnedServer(deps, ownerId);
  await setWebhook(deps, serverId, discord.address, 'test');
  const send = (id: string, signal = NEVER) => sendDiscordMessage(deps, id, signal);
  return {
    deps,
    clock,
    discord,
    ownerId,
    serverId,
    tell: () => notifyOwners(deps, NEVER),
    send,
    /** Sends what is due to Discord, as workers do. Returns the results. */
    async sendDue() {
      const ends: string[] = [];
      for (const id of await dueMessages(deps.discordMessages, clock)) ends.push(await send(id));
      return ends;
    },
    /** The written mails, by the beginning of their id. */
    async mails() {
      const found = await deps.mails.find().sort({ createdAt: 1, _id: 1 }).toArray();
      return found.map(({ _id, to, subject, sealedText }) => ({
        event: _id.split(':')[0],
        to,
        subject,
        text: sealedText ? deps.secrets.open(sealedText, mailContext(_id)) : '',
      }));
    },
    webhook: () => deps.discordWebhooks.findOne({ _id: serverId }),
  };
}

export type NotificationBench = Awaited<ReturnType<typeof notificationBench>>;

/** The accepted messages as title and text. */
export function shown({ messages }: FakeDiscord) {
  return messages.map(({ embeds }) => ({
    title: unescaped(embeds?.[0]?.title ?? ''),
    text: unescaped(embeds?.[0]?.description ?? ''),
  }));
}

/** What Discord shows of a text: a backslash before punctuation is removed. */
export function unescaped(text: string): string {
  return text.replace(/\\([^0-9A-Za-z\s])/g, '$1');
}
