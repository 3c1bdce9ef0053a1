import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { type EventText, eventIdOf } from '../events/event.ts';
import { notificationTime, numberText } from '../events/event-text.ts';
import { mailOf } from '../events/mail-owner.ts';
import { storeEvents } from '../events/store-events.ts';
import { t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import { after, HOUR } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { isTransientError } from '../platform/transient-errors.ts';
import type { Server } from '../servers/server.ts';
import { type Audience, audienceOf, CHANNELS, type Channel, isWanted } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { EVENTS } from './kinds.ts';
import type { Notification } from './notification-text.ts';

const MOST_AN_HOUR = defineLimit({
  key: 'notifications',
  what: 'Mails to the owner about a server',
  of: 'server',
  times: 20,
  windowMs: HOUR,
  beyond: 'not sent; a later one says how many',
}).times;

/** Writes it for each channel that is wanted. Returns whether that was new. */
export async function notify(
  deps: NotificationsDeps,
  audience: Audience,
  notification: Notification,
): Promise<boolean> {
  let isNew = false;
  for (const channel of CHANNELS) if (await notifyBy(channel, deps, audience, notification)) isNew = true;
  return isNew;
}

/**
 * Concurrent or repeated calls write a notification once for each channel; one that is not wanted is not written. If the
 * server has reached `MOST_AN_HOUR`, its mail is held: it is counted and not sent. Returns whether it was new.
 */
export async function notifyBy(
  channel: Channel,
  deps: NotificationsDeps,
  audience: Audience,
  notification: Notification,
): Promise<boolean> {
  const { name, about, mail } = notification;
  if (!isWanted(audience, channel, name)) return false;
  const { server, owner } = audience;
  const id = `${name}:${about}`;
  if (channel === 'mail') return owner !== null && write(deps, { server, owner }, id, mail);
  const { text, data, reviewId } = notification;
  const { type } = EVENTS[name];
  const event = { _id: eventIdOf(type, id), type, at: deps.clock.now(), data };
  const more = { ...(text ? { text } : {}), ...(reviewId ? { reviewId } : {}) };
  return (await storeEvents(deps, server._id, [{ ...event, ...more }])) > 0;
}

/** A failure for one server is logged and counts as 0; if a service is unavailable, the error is thrown. */
export async function forServer(
  { log }: NotificationsDeps,
  serverId: ObjectId,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (isTransientError(error)) throw error;
    log.warn({ event: 'notifications.failed', serverId: serverId.toHexString(), reason: String(error) });
    return 0;
  }
}

async function write(
  deps: NotificationsDeps,
  { server, owner }: { server: WithId<Server>; owner: WithId<User> },
  id: string,
  text: Notification['mail'],
): Promise<boolean> {
  const serverId = server._id;
  const isHeld = (await countSent(deps, serverId)) >= MOST_AN_HOUR;
  return putMail(deps, { id, serverId, isHeld, ...mailOf(deps.config, { server, owner }, text) });
}

/** In the last hour, up to `MOST_AN_HOUR`, without held ones. */
function countSent({ mails, clock }: NotificationsDeps, serverId: ObjectId): Promise<number> {
  const createdAt = { $gt: after(clock.now(), -HOUR) };
  // A held mail has no attempt and no `nextAt`.
  return mails.countDocuments(
    { serverId, createdAt, $or: [{ attempts: { $gt: 0 } }, { nextAt: { $exists: true } }] },
    { limit: MOST_AN_HOUR },
  );
}

type Held = { _id: ObjectId; number: number; first: Date; last: Date };

/** Says how many mails were held because of `MOST_AN_HOUR`, as soon as the limit allows it. */
export async function notifyOfHeldNotifications(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  let written = 0;
  for (const held of await heldMails(deps)) {
    if (stop.aborted) return written;
    if ((await countSent(deps, held._id)) >= MOST_AN_HOUR) continue;
    const audience = await audienceOf(deps, held._id);
    const { owner, server } = audience ?? {};
    // The owner may have switched all mails off meanwhile.
    const isWritten =
      server &&
      owner &&
      owner.wantsMail !== false &&
      (await write(deps, { server, owner }, heldId(held), () => heldText(held)));
    if (isWritten) written += 1;
    await deps.mails.updateMany(
      { serverId: held._id, heldAt: { $lte: held.last } },
      { $unset: { heldAt: '' } },
    );
  }
  return written;
}

function heldMails({ mails }: NotificationsDeps): Promise<Held[]> {
  return mails
    .aggregate<Held>([
      { $match: { heldAt: { $gt: new Date(0) } } },
      {
        $group: {
          _id: '$serverId',
          number: { $sum: 1 },
          first: { $min: '$heldAt' },
          last: { $max: '$heldAt' },
        },
      },
    ])
    .toArray();
}

function heldId({ _id, first }: Held): string {
  return `more:${_id.toHexString()}:${first.getTime()}`;
}

function heldText({ number, first }: Held): EventText {
  return {
    subject: t('{number} more', { number: numberText(number) }),
    paragraphs: [
      t(
        'There {n, plural, one {was # more notification} other {were # more notifications}} since {time}. We write at most {most} an hour about a server. The server’s page:',
        { n: number, time: notificationTime(first), most: MOST_AN_HOUR },
      ),
    ],
    part: '',
  };
}
