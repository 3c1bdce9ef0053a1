import { sendJson } from '../../delivery/http/http-client.ts';
import type { HttpAnswer } from '../../delivery/http/http-message.ts';
import type { AddressRanges } from '../../platform/address-guard.ts';
import type { Config } from '../../platform/config.ts';
import { printable } from '../../platform/printable.ts';
import {
  countInvalid,
  type DiscordLimitDeps,
  delayAll,
  delayWebhook,
  isGlobalLimit,
  objectIn,
  retryAfterIn,
  takeRequest,
  untilReset,
} from './discord-limits.ts';
import type { OffReason } from './off-reasons.ts';
import type { WebhookKey } from './webhook-address.ts';

export type DiscordDeps = DiscordLimitDeps & {
  config: AddressRanges & Pick<Config, 'LISTENER_TIMEOUT_MS' | 'DISCORD_API_URL'>;
};

/**
 * An `OffReason`: Discord accepts no message for this address. `no-message`: it was deleted. `refused`: never this
 * message. `unavailable`: no answer, or one that says nothing about the message (403, 408, 5xx, a redirect); if
 * `mayHaveArrived`, Discord may have done it. `limited`: nothing was done. `blocked`: the operator's address guard
 * refuses Discord's address. `reason` has the status and Discord's code or text.
 */
export type DiscordAnswer =
  | { kind: OffReason | 'blocked' | 'no-message' }
  | { kind: 'sent'; status: number; answer: Record<string, unknown> }
  | { kind: 'limited'; retryAfterMs: number; status?: number }
  | { kind: 'refused'; reason: string; status: number }
  | { kind: 'unavailable'; reason: string; status?: number; mayHaveArrived: boolean };

type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the webhook's address. */
  path?: string;
  body?: object;
  /** `sent` has the beginning of the answer. */
  readsAnswer?: boolean;
};

/** A message object repeats the embeds and adds fields of its own to each. */
const MOST_ANSWER_BYTES = 65_536;

/** Without `wait`, Discord reports no error if it cannot store the message. `readsAnswer`: for the message's id. */
export function postMessage(
  deps: DiscordDeps,
  key: WebhookKey,
  body: object,
  signal: AbortSignal,
  { readsAnswer = false } = {},
): Promise<DiscordAnswer> {
  return call(deps, key, { method: 'POST', body, readsAnswer }, signal);
}

export function editMessage(
  deps: DiscordDeps,
  key: WebhookKey,
  messageId: string,
  body: object,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  return call(deps, key, { method: 'PATCH', path: `/messages/${messageId}`, body }, signal);
}

export function readMessage(
  deps: DiscordDeps,
  key: WebhookKey,
  messageId: string,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  return call(deps, key, { method: 'GET', path: `/messages/${messageId}` }, signal);
}

export function deleteMessage(
  deps: DiscordDeps,
  key: WebhookKey,
  messageId: string,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  return call(deps, key, { method: 'DELETE', path: `/messages/${messageId}` }, signal);
}

/** `answer.name` is the webhook's name; Discord gives a webhook no name of its channel. */
export function readWebhook(
  deps: DiscordDeps,
  { id, token }: WebhookKey,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  return call(deps, { id, token }, { method: 'GET', readsAnswer: true }, signal);
}

/**
 * Asks only if no limit of Discord that any process knows of is used up. The address guard, deadlines and size limits
 * are those of votes for HTTP listeners. An error of the peer is returned.
 */
async function call(
  deps: DiscordDeps,
  key: WebhookKey,
  { method, path = '', body, readsAnswer = false }: Call,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  const waitMs = await takeRequest(deps, key);
  if (waitMs !== null) return { kind: 'limited', retryAfterMs: waitMs };
  const { config } = deps;
  const answer = await sendJson(
    addressOf(config, key, method, path),
    {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(readsAnswer ? { readsBody: true, mostBytes: MOST_ANSWER_BYTES } : {}),
    },
    {
      ranges: config,
      timeoutMs: config.LISTENER_TIMEOUT_MS,
      signal,
      waitSignal: signal,
      mayWrite: () => true,
    },
  );
  if (answer.status === 0) return withoutAnswer(answer);
  // A proxy may repeat the address, and reasons are logged.
  const said = answer.said.replaceAll(key.token, '(token)');
  await rememberLimits(deps, key, answer);
  return meaningOf(answer, said);
}

function addressOf(
  { DISCORD_API_URL }: DiscordDeps['config'],
  { id, token, threadId }: WebhookKey,
  method: Call['method'],
  path: string,
): URL {
  const url = new URL(`${DISCORD_API_URL}/webhooks/${id}/${token}${path}`);
  if (method === 'POST') url.searchParams.set('wait', 'true');
  if (threadId) url.searchParams.set('thread_id', threadId);
  return url;
}

/** The limit of edits of a message that is older than an hour. It delays no other message. */
const OLD_MESSAGE_EDITS = 30_046;

/** Discord counts 401, 403 and 429 against our address, except a 429 for a resource that others use too. */
async function rememberLimits(deps: DiscordDeps, key: WebhookKey, answer: HttpAnswer): Promise<void> {
  const { status, said } = answer;
  const headers = answer.headers ?? {};
  if (status === 401 || status === 403 || (status === 429 && headers['x-ratelimit-scope'] !== 'shared'))
    await countInvalid(deps);
  if (status === 429) {
    const waitMs = retryAfterIn(headers, said);
    if (isGlobalLimit(headers, said)) await delayAll(deps, waitMs);
    else if (codeIn(said) !== OLD_MESSAGE_EDITS) await delayWebhook(deps, key, waitMs);
    return;
  }
  const resetMs = untilReset(headers);
  if (resetMs !== null) await delayWebhook(deps, key, resetMs);
}

function withoutAnswer({ result: { code, reached } }: HttpAnswer): DiscordAnswer {
  if (code === 'address-refused') return { kind: 'blocked' };
  return { kind: 'unavailable', reason: code, mayHaveArrived: reached === 'written' };
}

function meaningOf({ status, headers = {} }: HttpAnswer, said: string): DiscordAnswer {
  if (status >= 200 && status < 300) return { kind: 'sent', status, answer: objectIn(said) };
  const reason = printable(`HTTP ${status} ${said}`);
  const code = codeIn(said);
  const known = status < 500 && status !== 429 && code !== null ? MEANINGS[code] : undefined;
  if (known) return { kind: known };
  switch (status) {
    case 404:
      return { kind: 'deleted' };
    case 401:
      return { kind: 'unauthorized' };
    case 429:
      return { kind: 'limited', retryAfterMs: retryAfterIn(headers, said), status };
    // A firewall in front of Discord answers 403 to whole networks.
    case 403:
      return { kind: 'unavailable', reason, status, mayHaveArrived: false };
    case 408:
      return { kind: 'unavailable', reason, status, mayHaveArrived: true };
    default:
      return status >= 400 && status < 500
        ? { kind: 'refused', reason: `HTTP ${status}${code === null ? '' : `, ${code}`}`, status }
        : { kind: 'unavailable', reason, status, mayHaveArrived: status >= 500 };
  }
}

/** docs.discord.com, "Opcodes and Status Codes" */
const MEANINGS: Record<number, OffReason | 'no-message'> = {
  10003: 'thread-gone',
  10008: 'no-message',
  10015: 'deleted',
  50027: 'unauthorized',
  50083: 'thread-gone',
  220001: 'needs-thread',
  220003: 'no-forum',
};

/** Null for an answer of a proxy. */
function codeIn(said: string): number | null {
  const { code } = objectIn(said);
  return Number.isInteger(code) && code !== 0 ? (code as number) : null;
}
