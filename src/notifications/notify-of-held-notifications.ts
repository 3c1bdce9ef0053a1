import type { Collection, ObjectId } from 'mongodb';
import type { Mail } from '../mail/mail.ts';
import { audienceOf } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { type NotificationText, notificationTime, numberText } from './notification-text.ts';
import { countSent, MOST_AN_HOUR, write } from './notify.ts';

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
