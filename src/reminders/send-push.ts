import { retryAfterMs } from '../delivery/http/http-answer.ts';
import { AppError } from '../platform/app-error.ts';
import { HOUR, SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import { guardedLookup } from '../platform/guarded-lookup.ts';
import { takeConnection } from '../platform/limits/outgoing-limit.ts';
import type { ResolveOptions } from '../platform/resolve-address.ts';
import type { RemindersDeps } from './deps.ts';
import type { PushSubscriptionKeys } from './keep-reminder.ts';
import type { OpenedPushKey } from './read-push-key.ts';

/** Of looking up the name, connecting, and the answer together. */
const LONGEST_ATTEMPT_MS = 10 * SECOND;
const CONNECT_MS = 5 * SECOND;

/** Connections to one push service; each is used for many messages. */
const CONNECTIONS = { known: 16, other: 4 };

/** An answer has no content that matters. */
const MOST_READ = 4_096;

/** How long a push service keeps the message for a device that is off. */
const LONGEST_TTL_MS = 4 * HOUR;

/** The push services of the browsers. Connections to another host are limited as those to an address without a proof. */
const WELL_KNOWN =
  /^(fcm\.googleapis\.com|web\.push\.apple\.com|([\w-]+\.)?push\.services\.mozilla\.com|[\w.-]+\.notify\.windows\.com)$/;

/** Of messages that wait at the push service, a newer one replaces the older one (RFC 8030, 5.4). */
const TOPIC = 'vote-again';

export function connectionsOf(host: string): number {
  return WELL_KNOWN.test(host) ? CONNECTIONS.known : CONNECTIONS.other;
}

export type PushAnswer =
  | { kind: 'sent' }
  /** The push service does not know the subscription any more. */
  | { kind: 'gone' }
  | { kind: 'later'; reason: string; waitMs: number | null }
  | { kind: 'refused'; reason: string };

export type PushSender = {
  /** `ttlMs`: how long the push service keeps it. Does not throw. */
  send(subscription: PushSubscriptionKeys, payload: string, ttlMs: number): Promise<PushAnswer>;
  close(): Promise<void>;
};

class ConnectionLimitError extends AppError {}

type SenderOptions = Pick<ResolveOptions, 'lookup'>;

/** Connections stay open until `close`. Redirects are not followed. */
export async function openPushSender(
  deps: RemindersDeps,
  key: OpenedPushKey,
  { lookup }: SenderOptions = {},
): Promise<PushSender> {
  const { config, clock } = deps;
  const [{ Agent, request }, { default: webPush }] = await Promise.all([
    import('undici'),
    import('web-push'),
  ]);
  const mayConnect = async (host: string, address: string) => {
    if (WELL_KNOWN.test(host)) return;
    const connection = { address, port: 443, accountId: null, isProvenByGreeting: false };
    if (await takeConnection(deps, connection)) throw new ConnectionLimitError('too many connections');
  };
  const dispatcher = new Agent({
    connect: { lookup: guardedLookup(config, { mayConnect, lookup }), timeout: CONNECT_MS },
    connections: CONNECTIONS.known,
    headersTimeout: LONGEST_ATTEMPT_MS,
    bodyTimeout: LONGEST_ATTEMPT_MS,
  });
  const vapidDetails = { subject: subjectOf(config), ...key };

  async function post({ endpoint, ...keys }: PushSubscriptionKeys, payload: string, ttlMs: number) {
    const TTL = Math.floor(Math.min(ttlMs, LONGEST_TTL_MS) / SECOND);
    const details = webPush.generateRequestDetails({ endpoint, keys }, payload, {
      vapidDetails,
      TTL,
      urgency: 'normal',
      topic: TOPIC,
      contentEncoding: 'aes128gcm',
    });
    const { headers, body } = details;
    const signal = AbortSignal.timeout(LONGEST_ATTEMPT_MS);
    const answer = await request(endpoint, {
      dispatcher,
      method: 'POST',
      headers: Object.entries(headers).flatMap(([name, value]): [string, string] => [name, String(value)]),
      body,
      signal,
    });
    // If the body never ends: the status has been received, so it decides.
    await answer.body.dump({ limit: MOST_READ, signal }).catch(() => undefined);
    const retryAfter = answer.headers['retry-after'];
    return meaningOf(answer.statusCode, retryAfterMs(retryAfter && String(retryAfter), clock.now()));
  }

  return {
    async send(subscription, payload, ttlMs) {
      try {
        return await within(LONGEST_ATTEMPT_MS, post(subscription, payload, ttlMs));
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException;
        return { kind: 'later', reason: code ?? name, waitMs: null };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Whom a push service can ask (RFC 8292, 2.1). */
function subjectOf({ CONTACT: contact, PUBLIC_URL }: RemindersDeps['config']): string {
  return contact?.includes('@') && !contact.includes('/') ? `mailto:${contact}` : PUBLIC_URL;
}

function meaningOf(status: number, waitMs: number | null): PushAnswer {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  const reason = `HTTP ${status}`;
  if (status === 408 || status === 429 || status >= 500) return { kind: 'later', reason, waitMs };
  return { kind: 'refused', reason };
}
