import { t } from '../../language/t.ts';
import { InvalidDocumentError } from '../../platform/document.ts';

export type WebhookKey = { id: string; token: string; threadId?: string };

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
 * The owner of a forum channel adds `?thread_id=` to the address that Discord offers to copy.
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
  const { threadId, others } = threadIn(url.searchParams);
  if (!id || !token || others || url.hash)
    throw refuse(t('must be a whole address, as “Copy Webhook URL” in Discord gives it'));
  if (threadId === undefined) return { id, token };
  if (!/^\d{15,21}$/.test(threadId))
    throw refuse(
      t('must have a number of 15 to 21 digits after ?thread_id=, as “Copy Thread ID” in Discord gives it'),
    );
  return { id, token, threadId };
}

function threadIn(parameters: URLSearchParams): { threadId: string | undefined; others: boolean } {
  const given = [...parameters];
  const [threadId, ...more] = parameters.getAll('thread_id');
  return { threadId, others: more.length > 0 || given.some(([name]) => name !== 'thread_id') };
}

/** Its last digits, by which the owner recognises the webhook. */
export function endingOf({ id }: WebhookKey): string {
  return id.slice(-4);
}

/** For sealing; `webhookIn` reads it. */
export function webhookText({ id, token, threadId }: WebhookKey): string {
  return [id, token, threadId ?? []].flat().join('/');
}

export function webhookIn(text: string): WebhookKey {
  const [id = '', token = '', threadId] = text.split('/');
  return threadId === undefined ? { id, token } : { id, token, threadId };
}
