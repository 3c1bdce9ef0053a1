import { t } from '../../language/t.ts';
import { InvalidDocumentError } from '../../platform/document.ts';

/** The id and token in the address of a webhook. */
export type WebhookKey = { id: string; token: string };

const HOSTS = new Set([
  'discord.com',
  'ptb.discord.com',
  'canary.discord.com',
  'discordapp.com',
  'ptb.discordapp.com',
  'canary.discordapp.com',
]);
const PATH = /^\/api(?:\/v\d{1,2})?\/webhooks\/(\d{15,21})\/([\w-]{50,100})\/?$/;

/**
 * Reads the address of a webhook, as Discord shows it to copy.
 *
 * @throws {InvalidDocumentError} for `webhook`; the error never repeats the address
 */
export function readWebhookAddress(text: string): WebhookKey {
  const url = URL.parse(text.trim());
  const refuse = (rule: string) => new InvalidDocumentError({ webhook: rule });
  if (url?.protocol !== 'https:' || !HOSTS.has(url.host) || url.username || url.password)
    throw refuse(t('must begin with https://discord.com/api/webhooks/'));
  if (/\/(slack|github)\/?$/.test(url.pathname))
    throw refuse(t('must be the address itself, without /slack or /github'));
  const [, id, token] = PATH.exec(url.pathname) ?? [];
  if (!id || !token || url.search || url.hash)
    throw refuse(t('must be a whole address, as «Copy Webhook URL» in Discord gives it'));
  return { id, token };
}
