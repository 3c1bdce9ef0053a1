import { type Collection, ObjectId } from 'mongodb';
import { checked } from '../platform/document.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { MailDeps } from './deps.ts';
import type { Mail } from './mail.ts';

/** A message to send. Its text is plain text; for Discord, the JSON of the request. */
export type NewMessage = {
  /** If a message with this id exists, no second one is written. Without it, the message gets a random id. */
  id?: string;
  to: string;
  subject: string;
  text: string;
  serverId?: ObjectId;
  /** True if the server has reached its limit of messages: the message is counted, not sent. */
  isHeld?: boolean;
};

/** Part of a text's encryption context, so that an encrypted text cannot be moved to the other channel. */
export type Channel = 'mail' | 'discord';

/** The encryption context of a message's text. */
export function mailContext(id: string, channel: Channel = 'mail'): string {
  return `${channel} ${id}`;
}

/**
 * Puts a mail into the outbox, from which a worker sends it (see send-mail.ts).
 *
 * @returns false if the outbox already has a mail with this `id`
 */
export async function putMail(deps: MailDeps, mail: NewMessage): Promise<boolean> {
  const mailId = await put(deps, deps.mails, 'mail', mail);
  if (mailId !== null && !mail.isHeld) await deps.producer.add('send-mail', { mailId });
  return mailId !== null;
}

/** Like `putMail`, for a message to the Discord webhook of the server with the id `to`. */
export async function putDiscordMessage(deps: MailDeps, message: NewMessage): Promise<boolean> {
  const messageId = await put(deps, deps.discordMessages, 'discord', message);
  if (messageId !== null && !message.isHeld) await deps.producer.add('send-discord', { messageId });
  return messageId !== null;
}

/** Writes a message and returns its id; null if a message with this id exists. */
async function put(
  { secrets, clock }: MailDeps,
  messages: Collection<Mail>,
  channel: Channel,
  { id = new ObjectId().toHexString(), to, subject, text, serverId, isHeld = false }: NewMessage,
): Promise<string | null> {
  const now = clock.now();
  const message = await checked<Mail>(messages, {
    _id: id,
    to,
    subject,
    ...(isHeld ? { heldAt: now } : { sealedText: secrets.seal(text, mailContext(id, channel)), nextAt: now }),
    createdAt: now,
    attempts: 0,
    ...(serverId ? { serverId } : {}),
  });
  try {
    await messages.insertOne(message, { writeConcern: DURABLE });
    return id;
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}
