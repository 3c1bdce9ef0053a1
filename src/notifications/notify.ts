import type { Collection, ObjectId } from 'mongodb';
import type { Mail } from '../mail/mail.ts';
import { type NewMessage, putDiscordMessage, putMail } from '../mail/outbox.ts';
import { after, type Clock, HOUR } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { isTransientError } from '../platform/transient-errors.ts';
import { type Audience, audienceOf, channelsFor } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { discordBody } from './discord/discord-body.ts';
import type { Kind } from './kinds.ts';
import { mailOf, type NotificationText, notificationTime, numberText } from './notification-text.ts';

const MOST_AN_HOUR = defineLimit({
  key: 'notifications',
  what: 'Notifications about a server',
  of: 'server and channel (mail, Discord)',
  times: 20,
  windowMs: HOUR,
  beyond: 'not sent; a later one says how many',
}).times;

/** `known`: all its messages existed already. `unwanted`: nobody wants its kind. */
export type NotifyResult = 'written' | 'known' | 'unwanted';

/**
 * Concurrent or repeated calls write a notification once for each channel. If the server has reached `MOST_AN_HOUR`,
 * the message is held: it is counted and not sent.
 */
export async function notify(
  deps: NotificationsDeps,
  audience: Audience,
  kind: Kind,
  text: NotificationText,
): Promise<NotifyResult> {
  const { owner, webhook } = channelsFor(audience, kind);
  const { server } = audience;
  const written = [
    ...(owner ? [await write(deps, 'mail', { ...audience, owner }, text)] : []),
    ...(webhook ? [await write(deps, 'discord', { server }, text)] : []),
  ];
  if (written.length === 0) return 'unwanted';
  return written.includes(true) ? 'written' : 'known';
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

type Receiver = Pick<Audience, 'server'> & { owner?: NonNullable<Audience['owner']> };

async function write(
  deps: NotificationsDeps,
  channel: 'mail' | 'discord',
  { server, owner }: Receiver,
  text: NotificationText,
): Promise<boolean> {
  const serverId = server._id;
  const messages = channel === 'mail' ? deps.mails : deps.discordMessages;
  const isHeld = (await countSent(messages, serverId, deps.clock)) >= MOST_AN_HOUR;
  const common = { id: text.id, serverId, isHeld };
  if (channel === 'mail') {
    if (!owner) return false;
    return putMail(deps, { ...common, ...mailOf(deps.config, { server, owner }, text) });
  }
  const to = serverId.toHexString();
  const body = JSON.stringify(discordBody(deps.config, server, text, deps.clock.now()));
  return putDiscordMessage(deps, { ...common, to, subject: text.subject, text: body } satisfies NewMessage);
}

/** In the last hour, up to `MOST_AN_HOUR`, without held ones. */
function countSent(messages: Collection<Mail>, serverId: ObjectId, clock: Clock): Promise<number> {
  const createdAt = { $gt: after(clock.now(), -HOUR) };
  // A held message has no attempt and no `nextAt`.
  return messages.countDocuments(
    { serverId, createdAt, $or: [{ attempts: { $gt: 0 } }, { nextAt: { $exists: true } }] },
    { limit: MOST_AN_HOUR },
  );
}

type Held = { _id: ObjectId; number: number; first: Date; last: Date };

/** Says how many notifications were held because of `MOST_AN_HOUR`, as soon as the limit allows it. */
export async function notifyOfHeldNotifications(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  let written = 0;
  for (const channel of ['mail', 'discord'] as const) {
    const messages = channel === 'mail' ? deps.mails : deps.discordMessages;
    for (const held of await heldMessages(messages)) {
      if (stop.aborted) return written;
      if ((await countSent(messages, held._id, deps.clock)) >= MOST_AN_HOUR) continue;
      const audience = await audienceOf(deps, held._id);
      // The owner may have switched all mails off meanwhile.
      const owner = audience?.owner?.wantsMail === false ? null : audience?.owner;
      const receiver = audience && { server: audience.server, ...(owner ? { owner } : {}) };
      const isWanted = channel === 'mail' ? owner : audience?.webhook;
      if (receiver && isWanted && (await write(deps, channel, receiver, heldText(held)))) written += 1;
      await messages.updateMany(
        { serverId: held._id, heldAt: { $lte: held.last } },
        { $unset: { heldAt: '' } },
      );
    }
  }
  return written;
}

function heldMessages(messages: Collection<Mail>): Promise<Held[]> {
  return messages
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

function heldText({ _id, number, first }: Held): NotificationText {
  return {
    id: `more:${_id.toHexString()}:${first.getTime()}`,
    tone: 'quiet',
    subject: `${numberText(number)} more`,
    paragraphs: [
      `There were ${numberText(number)} more notifications since ${notificationTime(first)}. We write at most ${MOST_AN_HOUR} an hour about a server. The server’s page:`,
    ],
    part: '',
  };
}
