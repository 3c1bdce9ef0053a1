import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Collection } from 'mongodb';
import { after, type Clock, DAY, MINUTE, SECOND } from '../../platform/clock.ts';
import { defineLimit, limitFor } from '../../platform/limits/define-limit.ts';
import { type RateLimit, takeAllOrNone, useAllowance } from '../../platform/limits/rate-limit.ts';
import type { Logger } from '../../platform/log.ts';
import { retryOnDuplicateKey } from '../../platform/mongo.ts';
import type { WebhookKey } from './webhook-address.ts';

export type DiscordLimitDeps = { rateLimits: Collection<RateLimit>; clock: Clock; log: Logger };

const WAITING = 'messages to Discord wait';

/** Discord allows an address 50 in a second; two windows of a second may meet in one. */
const REQUESTS = defineLimit({
  key: 'discord:requests',
  what: 'Requests to Discord',
  of: 'installation',
  times: 25,
  windowMs: SECOND,
  beyond: WAITING,
});

/** Discord's limit of a channel, which it reports only when it is used up. Most channels have one webhook. */
const OF_CHANNEL = defineLimit({
  key: 'discord:channel',
  what: 'Messages to a Discord webhook, with their changes',
  of: 'webhook',
  times: 30,
  windowMs: MINUTE,
  beyond: WAITING,
});

/** After 10,000 Discord blocks the address; others may send from it too. */
const INVALID = defineLimit({
  key: 'discord:invalid',
  what: 'Answers of Discord that count against this installation (401, 403, 429)',
  of: 'installation',
  times: 2_000,
  windowMs: 10 * MINUTE,
  beyond: WAITING,
});

/** When requests go on, in `resetAt`: to Discord at all, and to one webhook. */
const ALL = 'discord:delay';

/** Discord requests delays of seconds, or of an hour if it blocks an address. */
const LONGEST_RETRY_AFTER_MS = DAY;

/** The id is no secret alone, but a webhook's address is. */
function keyOf({ id }: WebhookKey): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 16);
}

/** Null if the webhook may be asked now; it is counted then. Otherwise how long to wait, in milliseconds. */
export async function takeRequest(deps: DiscordLimitDeps, webhook: WebhookKey): Promise<number | null> {
  const { rateLimits, clock } = deps;
  const now = clock.now();
  const key = keyOf(webhook);
  const delays = await rateLimits
    .find(
      { _id: { $in: [ALL, `${ALL}:${key}`] }, resetAt: { $gt: now } },
      { sort: { resetAt: -1 }, limit: 1 },
    )
    .toArray();
  const until =
    delays[0]?.resetAt ?? (await takeAllOrNone(deps, [limitFor(OF_CHANNEL, key), REQUESTS]))?.until;
  return until ? Math.max(until.getTime() - now.getTime(), 1) : null;
}

/** For all processes. */
export async function delayAll(deps: DiscordLimitDeps, ms: number): Promise<void> {
  deps.log.warn({ event: 'discord.limited', waitMs: ms });
  await delay(deps, ALL, ms);
}

export function delayWebhook(deps: DiscordLimitDeps, webhook: WebhookKey, ms: number): Promise<void> {
  return delay(deps, `${ALL}:${keyOf(webhook)}`, ms);
}

async function delay({ rateLimits, clock }: DiscordLimitDeps, _id: string, ms: number): Promise<void> {
  const resetAt = after(clock.now(), ms);
  await retryOnDuplicateKey(() =>
    rateLimits.updateOne({ _id }, { $max: { resetAt }, $set: { count: 1 } }, { upsert: true }),
  );
}

export async function countInvalid(deps: DiscordLimitDeps): Promise<void> {
  const until = await useAllowance(deps, INVALID);
  if (until) await delayAll(deps, until.getTime() - deps.clock.now().getTime());
}

/** Of a 429, in milliseconds: at least a second. The body is more exact than the header. */
export function retryAfterIn(headers: IncomingHttpHeaders, said: string): number {
  const { retry_after: exact } = objectIn(said);
  const seconds = typeof exact === 'number' ? exact : Number(headers['retry-after'] ?? 0);
  const wait = Number.isFinite(seconds) ? Math.ceil(seconds * SECOND) : 0;
  return Math.min(Math.max(wait, SECOND), LONGEST_RETRY_AFTER_MS);
}

/** A 429 that does not come from Discord's API itself is from the firewall in front of it, and blocks the address. */
export function isGlobalLimit(headers: IncomingHttpHeaders, said: string): boolean {
  const { global } = objectIn(said);
  return global === true || headers['x-ratelimit-global'] === 'true' || typeof global !== 'boolean';
}

/** Null unless the answer used the last request of its bucket. */
export function untilReset(headers: IncomingHttpHeaders): number | null {
  const seconds = Number(headers['x-ratelimit-reset-after']);
  if (headers['x-ratelimit-remaining'] !== '0' || !Number.isFinite(seconds)) return null;
  return Math.min(Math.ceil(seconds * SECOND), LONGEST_RETRY_AFTER_MS);
}

/** Empty if it is none. */
export function objectIn(json: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(json);
    return typeof found === 'object' && found !== null ? { ...found } : {};
  } catch {
    return {};
  }
}
