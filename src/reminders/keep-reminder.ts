import { ECDH } from 'node:crypto';
import { isIP } from 'node:net';
import type { ObjectId, UUID } from 'mongodb';
import { defineMessage } from '../language/t.ts';
import { isRefusedPort, parseHost } from '../platform/address-guard.ts';
import { AppError } from '../platform/app-error.ts';
import { DAY, HOUR } from '../platform/clock.ts';
import { countUse } from '../platform/limits/by-network.ts';
import { defineLimit, limitFor } from '../platform/limits/define-limit.ts';
import { useAllowance } from '../platform/limits/rate-limit.ts';
import type { RemindersDeps } from './deps.ts';
import { dueAtOf, readNextVotes } from './next-votes.ts';
import { readPushKey } from './read-push-key.ts';
import { contextOfReminder, MOST_REMINDED, type Reminder, reminderId } from './reminder.ts';
import { knownTimeZone } from './silent-hours.ts';

export const TOO_MANY_REMINDERS = defineMessage('Too many reminders were set from here. Try again later.');

/** Each costs queries. A browser sets its reminder anew after each vote. */
const OF_NETWORK = defineLimit({
  key: 'reminder-set',
  what: 'Reminders that are set or set anew',
  of: 'network',
  times: 120,
  windowMs: HOUR,
  sentence: TOO_MANY_REMINDERS,
});

/** Each may cause messages to a push service that the browser names. */
const NEW_OF_NETWORK = defineLimit({
  key: 'reminder-new',
  what: 'Browsers that ask for reminders',
  of: 'network',
  times: 40,
  windowMs: DAY,
  sentence: TOO_MANY_REMINDERS,
});

const OF_BROWSER = defineLimit({
  key: 'reminder-browser',
  what: 'Reminders that are set anew',
  of: 'browser',
  times: 60,
  windowMs: DAY,
  sentence: TOO_MANY_REMINDERS,
});

/** What a browser's `PushSubscription` contains. */
export type PushSubscriptionKeys = { endpoint: string; p256dh: string; auth: string };

export type ReminderInput = PushSubscriptionKeys & {
  /** The key with which the browser subscribed. */
  publicKey: string;
  timeZone: string;
  language: string;
  votes: UUID[];
  userId: ObjectId | null;
};

export type Kept =
  | { kind: 'kept'; dueAt: Date | null }
  /** Not a subscription of a push service, or of another key. */
  | { kind: 'no-subscription' | 'other-key' | 'no-vote' }
  | { kind: 'limited'; until: Date };

/** In UTF-16 code units. Those of today's push services have at most some 700. */
const LONGEST_ENDPOINT = 1_024;

class SubscriptionError extends AppError {}

/**
 * Stores a browser's subscription, or sets it anew after a vote, which moves the reminder. The same call twice does no
 * harm.
 */
export async function keepReminder(
  deps: RemindersDeps,
  input: ReminderInput,
  address: string,
): Promise<Kept> {
  const used = await countUse(deps, OF_NETWORK, address);
  if (used) return { kind: 'limited', until: used };
  const host = hostOfSubscription(input);
  if (!host) return { kind: 'no-subscription' };
  if (input.publicKey !== (await readPushKey(deps))) return { kind: 'other-key' };
  const _id = reminderId(input.endpoint);
  const earlier = await deps.reminders.findOne({ _id });
  const until = earlier
    ? await useAllowance(deps, limitFor(OF_BROWSER, _id))
    : await countUse(deps, NEW_OF_NETWORK, address);
  if (until) return { kind: 'limited', until };
  const now = deps.clock.now();
  const voteIds = input.votes.slice(0, MOST_REMINDED);
  const known = await deps.votes.find({ _id: { $in: voteIds } }, { projection: { _id: 1 } }).toArray();
  if (known.length === 0) return { kind: 'no-vote' };
  const votes = known.map((vote) => vote._id);
  const timed = { timeZone: knownTimeZone(input.timeZone), usedAt: now };
  const dueAt = dueAtOf(await readNextVotes(deps, votes), { sentAt: earlier?.sentAt ?? null, ...timed }, now);
  const { endpoint, p256dh, auth } = input;
  const sealed = deps.secrets.seal(JSON.stringify({ endpoint, p256dh, auth }), contextOfReminder(_id));
  const fields = { sealed, host, publicKey: input.publicKey, language: input.language, ...timed, votes };
  await deps.reminders.updateOne(
    { _id },
    {
      $set: { ...fields, dueAt, failures: 0, ...(input.userId ? { userId: input.userId } : {}) },
      // A browser that several people use: the reminder is that of the one who voted last.
      ...(input.userId ? {} : { $unset: { userId: '' } }),
      $setOnInsert: { createdAt: now },
    },
    { upsert: true },
  );
  return { kind: 'kept', dueAt };
}

/** The caller knows the secret address of the subscription, which is all that is needed to stop it. */
export async function stopReminder(
  { reminders }: Pick<RemindersDeps, 'reminders'>,
  endpoint: string,
): Promise<void> {
  await reminders.deleteOne({ _id: reminderId(endpoint) });
}

/** Null if it is no usable subscription. Whether the host's addresses are public is checked at each connection. */
function hostOfSubscription({ endpoint, p256dh, auth }: PushSubscriptionKeys): string | null {
  try {
    if (endpoint.length > LONGEST_ENDPOINT) throw new SubscriptionError('its address is too long');
    const url = new URL(endpoint);
    const host = parseHost(url.hostname);
    if (url.protocol !== 'https:' || url.username || url.password || isIP(host))
      throw new SubscriptionError('no push service has such an address');
    if (isRefusedPort(Number(url.port || 443))) throw new SubscriptionError('its port is refused');
    checkKeys(p256dh, auth);
    return url.host;
  } catch {
    return null;
  }
}

/** RFC 8291: a point of P-256 and 16 bytes. @throws if they are none */
function checkKeys(p256dh: string, auth: string): void {
  if (!/^[\w-]{87}=?$/.test(p256dh) || !/^[\w-]{22}(==)?$/.test(auth))
    throw new SubscriptionError('its keys are no base64url of the right length');
  ECDH.convertKey(p256dh, 'prime256v1', 'base64url', 'base64url', 'uncompressed');
}

/** For the export of an account: without the address and keys. */
export function reminderRecord({ host, timeZone, createdAt, usedAt, dueAt }: Reminder): object {
  return { push_service: host, time_zone: timeZone, created_at: createdAt, used_at: usedAt, due_at: dueAt };
}
