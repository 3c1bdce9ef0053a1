import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId } from 'mongodb';
import { eventIdOf, type StoredEvent } from '../../events/event.ts';
import type { EventKind, EventType } from '../../events/kinds.ts';
import { MOST_SUBSCRIPTIONS } from '../../events/subscription.ts';
import { EVENTS, KIND_NAMES, type Kind } from '../../notifications/kinds.ts';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import { DURABLE, isDuplicateKey, type Mongo, retryOnDuplicateKey } from '../../platform/mongo.ts';
import { bindCollections } from '../collections.ts';

/** As builds before this one stored it; `_id` is the server. */
type Webhook = {
  _id: ObjectId;
  sealed: string;
  ending: string;
  setAt: Date;
  kindsOff: Kind[];
  off?: { at: Date; reason: string } | null;
  failing?: { at: Date; reason: string } | null;
  /** This migration has begun with it: the kinds that were on. */
  kindsOn?: EventKind[];
};

/** An attempt of the previous version to send a message holds it no longer. */
const LONGEST_ATTEMPT_MS = 2 * MINUTE + 10 * SECOND;

/**
 * Makes the Discord webhooks of earlier builds subscriptions, with the kinds that were on, and their waiting messages
 * events. Processes of the previous version write no more messages once all kinds are off, still send those that they
 * have taken, and find no webhook afterwards. It repeats, because their settings page may store a webhook again.
 */
export async function subscribeDiscordWebhooks(mongo: Mongo): Promise<void> {
  const webhooks = mongo.db.collection<Webhook>('discord_webhooks');
  for await (const webhook of webhooks.find()) {
    const { _id } = webhook;
    const kinds = webhook.kindsOn ?? kindsOf(webhook);
    await webhooks.updateOne(
      { _id },
      { $set: { kindsOff: KIND_NAMES, kindsOn: kinds } },
      { writeConcern: DURABLE },
    );
    if (!(await subscribe(mongo, webhook, kinds))) continue;
    await noteTold(mongo, _id);
    if (!webhook.off) await moveMessages(mongo, _id);
    // A webhook that was set meanwhile stays, for the next run.
    await webhooks.deleteOne({ _id, sealed: webhook.sealed });
  }
}

function kindsOf({ kindsOff }: Webhook): EventKind[] {
  const on = Object.values(EVENTS).filter(({ kind }) => !kindsOff.includes(kind));
  return [...new Set(on.map(({ type }) => type))];
}

/** Under the server's id, so that a repeated run finds it. False if the server has no place for it. */
async function subscribe(
  mongo: Mongo,
  { _id, sealed: sealedSecret, ending, setAt, off, failing }: Webhook,
  kinds: EventKind[],
): Promise<boolean> {
  const { subscriptions } = bindCollections(mongo);
  const now = new Date();
  const state = {
    kinds,
    sealedSecret,
    ending,
    ...(off ? { pause: { at: off.at, by: 'gone' as const, reason: off.reason } } : {}),
    // From now on: after a day of failures a subscription is paused.
    ...(failing ? { failingSince: now, lastReason: failing.reason } : {}),
  };
  const replaced = await subscriptions.updateOne(
    { _id, sealedSecret: { $ne: sealedSecret } },
    {
      $set: state,
      $unset: { ...(off ? {} : { pause: '' }), ...(failing ? {} : { failingSince: '' }) },
      $inc: { revision: 1 },
    },
    { writeConcern: DURABLE },
  );
  if (replaced.matchedCount > 0) return true;
  const fixed = { _id, serverId: _id, type: 'discord', name: 'Discord', revision: 1 } as const;
  const begun = { createdAt: setAt, since: now, failures: 0, calls: 0 };
  for (let slot = 0; slot < MOST_SUBSCRIPTIONS; slot += 1) {
    try {
      if (await subscriptions.findOne({ _id })) return true;
      await subscriptions.insertOne({ ...fixed, ...begun, ...state, slot }, { writeConcern: DURABLE });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
  return false;
}

/** Of outages that go on, the end is told and not again the beginning. */
async function noteTold({ db }: Mongo, serverId: ObjectId): Promise<void> {
  const fields = ['since', 'backAt', 'pauseTold', 'unreachableTold', 'unfetchedTold', 'expiringTold'];
  const told = Object.fromEntries(fields.map((field) => [field, { $ifNull: [`$${field}`, null] }]));
  await db
    .collection('listener_notices')
    .updateMany({ serverId, events: { $exists: false } }, [{ $set: { events: told } }]);
  await db
    .collection<{ _id: ObjectId }>('server_notices')
    .updateOne({ _id: serverId, eventSince: { $exists: false } }, [{ $set: { eventSince: '$since' } }]);
}

type Message = {
  /** `paused:…`: the event's name and what distinguishes it. */
  _id: string;
  serverId: ObjectId;
  subject: string;
  createdAt: Date;
  nextAt?: Date;
  sealedText?: string;
  /** It becomes an event; the previous version sends it no more. */
  movedAt?: Date;
};

const PARTS: Partial<Record<EventType, string>> = {
  'listener.down': '/listener',
  'listener.back': '/listener',
  'votes.expiring': '/listener',
  'review.published': '/reviews',
  'exclusion.decided': '/votes',
};

/** With the id that this version gives it, so that nothing is sent twice. Null if it only counts messages. */
function eventOf(serverId: ObjectId, { _id: id, subject, createdAt }: Message): StoredEvent | null {
  const [, event] = Object.entries(EVENTS).find(([name]) => id.startsWith(`${name}:`)) ?? [];
  if (!event) return null;
  const { type } = event;
  const now = new Date();
  const text = { subject, paragraphs: ['The server’s page:'], part: PARTS[type] ?? '' };
  const sends = [{ to: serverId, nextAt: now, attempts: 0 }];
  return { _id: eventIdOf(type, id), serverId, type, at: createdAt, data: {}, text, sends, createdAt: now };
}

/** Each that waits becomes an event with its subject: its encrypted text cannot be read here. */
async function moveMessages(mongo: Mongo, serverId: ObjectId): Promise<void> {
  const messages = mongo.db.collection<Message>('discord_messages');
  const { events, subscriptions } = bindCollections(mongo);
  const store = (event: StoredEvent) =>
    events.updateOne({ _id: event._id }, { $setOnInsert: event }, { upsert: true, writeConcern: DURABLE });
  const deadline = after(new Date(), LONGEST_ATTEMPT_MS);
  for (;;) {
    await messages.updateMany(
      {
        serverId,
        nextAt: { $exists: true },
        $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
      },
      { $set: { movedAt: new Date() }, $unset: { nextAt: '', sealedText: '' } },
    );
    for await (const message of messages.find({ serverId, movedAt: { $exists: true } })) {
      const event = eventOf(serverId, message);
      if (event) await retryOnDuplicateKey(() => store(event));
      await messages.deleteOne({ _id: message._id });
      // As after each new event.
      await subscriptions.updateOne(
        { _id: serverId },
        { $min: { nextPassAt: new Date() }, $inc: { calls: 1 } },
      );
    }
    if (new Date() >= deadline || !(await messages.findOne({ serverId, nextAt: { $exists: true } }))) return;
    await pause(SECOND);
  }
}
