import { postJson } from '../../delivery/http/http-client.ts';
import type { WebhookKey } from '../../events/discord/webhook-address.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import type { AddressRanges } from '../../platform/address-guard.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { printable } from '../../platform/printable.ts';
import type { OffReason } from './discord-webhook.ts';

type PostDeps = AddressRanges & Pick<Config, 'LISTENER_TIMEOUT_MS' | 'DISCORD_API_URL'>;

/**
 * An `OffReason`: Discord accepts no message for this address. `refused`: never this message. `unavailable`: no answer,
 * or one that says nothing about the message (403, 408, 5xx, a redirect). `blocked`: the operator's address guard
 * refuses Discord's address. `reason` has the status and Discord's code or text.
 */
export type DiscordAnswer =
  | { kind: 'sent' | OffReason | 'blocked' }
  | { kind: 'limited'; retryAfterMs: number }
  | { kind: 'refused' | 'unavailable'; reason: string };

/** If Discord requests a longer delay, this delay is used. */
const LONGEST_RETRY_AFTER_MS = HOUR;

/**
 * The address guard, deadlines and size limits are those of votes for HTTP listeners. An error of the peer is returned.
 */
export async function postMessage(
  config: PostDeps,
  { id, token, threadId }: WebhookKey,
  body: string,
  signal: AbortSignal,
): Promise<DiscordAnswer> {
  const { result, status, said } = await postJson(
    new URL(`${config.DISCORD_API_URL}/webhooks/${id}/${token}${threadId ? `?thread_id=${threadId}` : ''}`),
    body,
    {
      ranges: config,
      timeoutMs: config.LISTENER_TIMEOUT_MS,
      signal,
      waitSignal: signal,
      mayWrite: () => true,
    },
  );
  return status === 0 ? withoutAnswer(result) : meaningOf(result, status, said.replaceAll(token, '(token)'));
}

function withoutAnswer({ code }: Outcome): DiscordAnswer {
  return code === 'address-refused' ? { kind: 'blocked' } : { kind: 'unavailable', reason: code };
}

/** @param said - the answer's text without the token: a proxy may repeat the address, and reasons are logged */
function meaningOf({ retryAfterMs }: Outcome, status: number, said: string): DiscordAnswer {
  const reason = printable(`HTTP ${status} ${said}`);
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const code = codeIn(said);
  const off = status < 500 && code !== null ? OFF_CODES[code] : undefined;
  if (off) return { kind: off };
  switch (status) {
    case 404:
      return { kind: 'deleted' };
    case 401:
      return { kind: 'unauthorized' };
    case 429: {
      const wait = retryAfterIn(said) ?? retryAfterMs ?? 0;
      return { kind: 'limited', retryAfterMs: Math.min(Math.max(wait, SECOND), LONGEST_RETRY_AFTER_MS) };
    }
    // A firewall in front of Discord answers 403 to whole networks.
    case 403:
    case 408:
      return { kind: 'unavailable', reason };
    default:
      return status >= 400 && status < 500
        ? { kind: 'refused', reason: `HTTP ${status}${code === null ? '' : `, ${code}`}` }
        : { kind: 'unavailable', reason };
  }
}

/** docs.discord.com, "Opcodes and Status Codes" */
const OFF_CODES: Record<number, OffReason> = {
  10003: 'thread-gone',
  10015: 'deleted',
  50027: 'unauthorized',
  50083: 'thread-gone',
  220001: 'needs-thread',
  220003: 'no-forum',
};

/** Null for an answer of a proxy. */
function codeIn(said: string): number | null {
  const code = fieldOf(said, 'code');
  return Number.isInteger(code) && code !== 0 ? (code as number) : null;
}

/** In milliseconds; more exact than the header. */
function retryAfterIn(said: string): number | null {
  const seconds = fieldOf(said, 'retry_after');
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * SECOND) : null;
}

function fieldOf(said: string, name: string): unknown {
  try {
    const answer: unknown = JSON.parse(said);
    return typeof answer === 'object' && answer !== null
      ? Object.entries(answer).find(([key]) => key === name)?.[1]
      : undefined;
  } catch {
    return undefined;
  }
}
