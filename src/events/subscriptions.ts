import { type Collection, type Document, ObjectId } from 'mongodb';
import { SECRET_OVERLAP_MS } from '../delivery/http/http-listeners.ts';
import { newSigningSecret } from '../delivery/http/http-message.ts';
import { AppError } from '../platform/app-error.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { EventsDeps } from './deps.ts';
import { countWaitingEvents, makeAllDue, removeWaitingEvents } from './event-sends.ts';
import { MOST_SUBSCRIPTIONS, type Subscription } from './subscription.ts';
import { isSubscribedWebhook, sealForSubscription, webhookFields } from './subscription-secret.ts';
import {
  type NewSubscription,
  newDiscordSchema,
  newHttpSchema,
  type SubscriptionChange,
  subscriptionChangeSchema,
} from './subscription-settings.ts';

/** The server has ten. */
export class TooManySubscriptionsError extends AppError {}

/** A subscription of a server. */
export type SubscriptionOf = { serverId: ObjectId; subscriptionId: ObjectId };

/**
 * `secret` (`whsec_…`) is to be shown once; null for Discord and for a repeated call.
 *
 * @param by - the user, for the audit log (also in the other functions of this file)
 * @param _id - a caller whose form may be sent twice makes it: the second call changes nothing
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 * @throws {TooManySubscriptionsError}
 */
export async function addSubscription(
  deps: EventsDeps,
  serverId: ObjectId,
  settings: NewSubscription,
  by: string,
  _id = new ObjectId(),
): Promise<{ subscription: Subscription; secret: string | null }> {
  const { fields, secret } = settingsOf(deps, _id, settings);
  const now = deps.clock.now();
  const state = { revision: 1, createdAt: now, since: now, failures: 0, calls: 0 };
  const added = await insertIntoSlot(deps, { _id, serverId, ...fields, ...state });
  if (!added) {
    const existing = await deps.subscriptions.findOne({ _id, serverId });
    if (!existing) throw new Error('the id belongs to another server');
    return { subscription: existing, secret: null };
  }
  await audit(deps, added, by, 'subscription.add');
  return { subscription: added, secret };
}

function settingsOf({ secrets }: EventsDeps, _id: ObjectId, settings: NewSubscription) {
  if (settings.type === 'http') {
    const secret = newSigningSecret();
    const fields = parseInput(newHttpSchema, settings);
    return { fields: { ...fields, sealedSecret: sealForSubscription(secrets, _id, secret) }, secret };
  }
  const { webhook, template, ...rest } = parseInput(newDiscordSchema, settings);
  const fields = { ...rest, ...webhookFields(secrets, _id, webhook), ...(template ? { template } : {}) };
  return { fields, secret: null };
}

/** Null if there is one with its id. */
async function insertIntoSlot(
  { subscriptions }: EventsDeps,
  fields: Omit<Subscription, 'slot'>,
): Promise<Subscription | null> {
  const { _id, serverId } = fields;
  for (;;) {
    const existing = await subscriptions.find({ serverId }, { projection: { slot: 1 } }).toArray();
    if (existing.some((one) => one._id.equals(_id))) return null;
    const taken = new Set(existing.map(({ slot }) => slot));
    const slot = Array.from({ length: MOST_SUBSCRIPTIONS }, (_, i) => i).find((i) => !taken.has(i));
    if (slot === undefined)
      throw new TooManySubscriptionsError(`There are ${MOST_SUBSCRIPTIONS} subscriptions already.`);
    const subscription = await checked<Subscription>(subscriptions, { ...fields, slot });
    try {
      await subscriptions.insertOne(subscription, { writeConcern: DURABLE });
      return subscription;
    } catch (error) {
      // If another subscription has taken the slot meanwhile: the next round finds out.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** What ends with a resume and with a new address; `null` removes the field. */
const FRESH = { failures: 0, failingSince: null, lastReason: null, notBefore: null } as const;

/**
 * A new address begins without failures and proofs, and ends a pause that the owner has not made; what waits is sent at
 * once. The signing secret stays. Null if there is no such subscription.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function changeSubscription(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  change: SubscriptionChange,
  by: string,
): Promise<Subscription | null> {
  const { url, webhook, template, ...rest } = parseInput(subscriptionChangeSchema, change);
  const before = await deps.subscriptions.findOne({ _id, serverId });
  if (!before) return null;
  const address = isOtherAddress(deps, before, { url, webhook }) && {
    ...(before.type === 'http' ? { url } : webhookFields(deps.secrets, _id, webhook ?? '')),
  };
  const ofDiscord = before.type === 'discord' && template !== undefined ? { template: template || null } : {};
  const pause = before.pause?.by === 'owner' ? {} : { pause: null };
  const wake = { nextPassAt: deps.clock.now() };
  const changed = await update(deps, before, {
    ...rest,
    ...ofDiscord,
    ...(address ? { ...address, ...FRESH, ...pause, ...wake, proven: null } : {}),
  });
  if (!changed) return changeSubscription(deps, { serverId, subscriptionId: _id }, change, by);
  await audit(deps, changed, by, 'subscription.change');
  if (address) await sendAllNow(deps, _id);
  return changed;
}

/** What waits is sent there at once, so a user's changes of this kind are limited. A field of another type is ignored. */
export function isOtherAddress(
  { secrets }: Pick<EventsDeps, 'secrets'>,
  subscription: Subscription,
  { url, webhook }: { url?: string | undefined; webhook?: string | undefined },
): boolean {
  if (subscription.type === 'http') return url !== undefined && url !== subscription.url;
  return webhook !== undefined && !isSubscribedWebhook(secrets, subscription, webhook);
}

/**
 * Makes a new signing secret (`whsec_…`, to be shown once). For 24 hours messages are signed with both. A pass that
 * runs goes on with the earlier one alone, for some seconds at most.
 *
 * @param revision - with another one nothing is changed: a form that is sent twice rotates the secret once
 */
export async function rotateSubscriptionSecret(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  by: string,
  revision?: number,
): Promise<{ secret: string; previousValidUntil: Date } | null> {
  for (;;) {
    const before = await deps.subscriptions.findOne({ _id, serverId, type: 'http' });
    if (!before || (revision !== undefined && before.revision !== revision)) return null;
    const secret = newSigningSecret();
    const until = after(deps.clock.now(), SECRET_OVERLAP_MS);
    const rotated = await update(deps, before, {
      sealedSecret: sealForSubscription(deps.secrets, _id, secret),
      previousSecret: { sealed: before.sealedSecret, until },
    });
    if (!rotated) continue;
    await audit(deps, rotated, by, 'subscription.rotate');
    return { secret, previousValidUntil: until };
  }
}

/** Events still collect. Null if there is no such subscription. */
export async function pauseSubscription(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  by: string,
): Promise<Subscription | null> {
  const paused = await deps.subscriptions.findOneAndUpdate(
    { _id, serverId },
    { $set: { pause: { at: deps.clock.now(), by: 'owner' } }, $inc: { revision: 1 } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (paused) await audit(deps, paused, by, 'subscription.pause');
  return paused;
}

/** Ends any pause; what waits is sent at once. Null if there is no such subscription. */
export async function resumeSubscription(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  by: string,
): Promise<Subscription | null> {
  const before = await deps.subscriptions.findOne({ _id, serverId });
  if (!before) return null;
  // If the process dies after this, the scheduler wakes a worker.
  const resumed = await update(deps, before, { ...FRESH, pause: null, nextPassAt: deps.clock.now() });
  if (!resumed) return resumeSubscription(deps, { serverId, subscriptionId: _id }, by);
  await audit(deps, resumed, by, 'subscription.resume');
  await sendAllNow(deps, _id);
  return resumed;
}

/** With what waits for it and its log. Returns whether there was one. */
export async function removeSubscription(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  by: string,
): Promise<boolean> {
  const removed = await deps.subscriptions.findOneAndDelete({ _id, serverId }, { writeConcern: DURABLE });
  if (!removed) return false;
  await audit(deps, removed, by, 'subscription.remove');
  await removeWaitingEvents(deps, _id);
  await deps.attemptLogs.deleteOne({ _id });
  return true;
}

/** A subscription as its owner sees it. */
export type SubscriptionView = Omit<Subscription, keyof typeof HIDDEN> & {
  /** At most `COUNTED_WAITING`. */
  waiting: number;
};

/** Counting of what waits stops there. */
export const COUNTED_WAITING = 1_000;

/** Secrets, and internal state of the passes. */
const HIDDEN = { sealedSecret: 0, previousSecret: 0, lease: 0, proven: 0, calls: 0, nextPassAt: 0 } as const;

/** The oldest first. */
export async function subscriptionsOf(deps: EventsDeps, serverId: ObjectId): Promise<SubscriptionView[]> {
  const found = await deps.subscriptions
    .find<Omit<SubscriptionView, 'waiting'>>({ serverId }, { projection: HIDDEN })
    .sort({ createdAt: 1, _id: 1 })
    .toArray();
  return Promise.all(
    found.map(async (one) => ({ ...one, waiting: await countWaitingEvents(deps, one._id, COUNTED_WAITING) })),
  );
}

/** A restart of a program is no trouble yet. */
const TROUBLED_AFTER_FAILURES = 3;

/** Of these servers: those that fail, or were paused because they failed. */
export function troubledSubscriptions(
  { subscriptions }: { subscriptions: Collection<Subscription> },
  serverIds: ObjectId[],
): Promise<Pick<Subscription, 'serverId'>[]> {
  const isTroubled = [
    { failures: { $gte: TROUBLED_AFTER_FAILURES }, pause: { $exists: false } },
    { 'pause.by': { $in: ['failures' as const, 'gone' as const] } },
  ];
  return subscriptions
    .find({ serverId: anyOf(serverIds), $or: isTroubled }, { projection: { _id: 0, serverId: 1 } })
    .toArray();
}

/** Wakes a worker for what is due, even if the subscription waits after a failure. */
export async function sendAllNow(deps: EventsDeps, _id: ObjectId): Promise<void> {
  await makeAllDue(deps, _id);
  await wakeSubscription(deps, _id);
}

/** If Redis does not accept the job, the scheduler adds it within a minute. */
export async function wakeSubscription(
  { subscriptions, clock, producer }: EventsDeps,
  _id: ObjectId,
): Promise<void> {
  await subscriptions.updateOne(
    { _id },
    { $min: { nextPassAt: clock.now() }, $inc: { calls: 1 } },
    { writeConcern: DURABLE },
  );
  await producer.add('send-events', { subscriptionId: _id.toHexString() }, { hasten: true });
}

/** Null if another request has changed it since it was read. */
async function update(
  { subscriptions }: EventsDeps,
  { _id, revision }: Subscription,
  fields: Document,
): Promise<Subscription | null> {
  const entries = Object.entries(fields);
  const set = entries.filter(([, value]) => value !== null);
  const unset = entries.filter(([, value]) => value === null).map(([name]) => [name, '']);
  return subscriptions.findOneAndUpdate(
    { _id, revision },
    {
      $inc: { revision: 1, ...('nextPassAt' in fields ? { calls: 1 } : {}) },
      ...(set.length > 0 ? { $set: Object.fromEntries(set) } : {}),
      ...(unset.length > 0 ? { $unset: Object.fromEntries(unset) } : {}),
    },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
}

/** Never the address of a webhook. */
function audit(deps: EventsDeps, subscription: Subscription, by: string, action: AuditAction) {
  const { serverId, name, type, kinds, url, ending } = subscription;
  const address = url ? { url } : { ending };
  return recordAudit(deps, { by, action, serverId, details: { name, type, ...address, kinds } });
}
