import type { User } from '../../src/accounts/user.ts';
import { readWebhookAddress } from '../../src/events/discord/webhook-address.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import { openDeliveryDeps } from '../support/delivering.ts';
import { startFakeDiscord } from '../support/fake-discord.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';

export const NEVER = new AbortController().signal;

/** A platform with a fake Discord that has the same clock, and a server with an owner. */
export async function discordBench(env: Record<string, string> = {}, user: Partial<User> = {}) {
  let now = () => new Date();
  const discord = await startFakeDiscord({ now: () => now() });
  const deps = await openDeliveryDeps({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
    PUBLIC_URL: 'https://example.org/listing',
    DISCORD_API_URL: discord.url,
    LISTENER_TIMEOUT_MS: '1000',
    ...env,
  });
  const { clock } = deps;
  now = () => clock.now();
  clock.stop(new Date('2026-11-29T12:00:00Z'));
  const ownerId = await addOwner(deps, user);
  const serverId = await addOwnedServer(deps, ownerId);
  return {
    deps,
    clock,
    discord,
    ownerId,
    serverId,
    key: readWebhookAddress(discord.address),
    /** The written mails. */
    async mails() {
      const found = await deps.mails.find().sort({ createdAt: 1, _id: 1 }).toArray();
      return found.map(({ _id, to, subject, sealedText }) => ({
        to,
        subject,
        text: sealedText ? deps.secrets.open(sealedText, mailContext(_id)) : '',
      }));
    },
    /** Statuses that Discord counts against us, or that say that a limit was broken. */
    complaints: () => discord.answers.filter(({ status }) => [401, 403, 429].includes(status)),
  };
}

export type DiscordBench = Awaited<ReturnType<typeof discordBench>>;

/** What Discord shows of a text: a backslash before punctuation is removed. */
export function asShown(text = ''): string {
  return text.replace(/\\([^0-9A-Za-z\s])/g, '$1');
}
