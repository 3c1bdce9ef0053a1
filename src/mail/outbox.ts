import { type Collection, ObjectId } from 'mongodb';
import { checked } from '../platform/document.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { MailDeps } from './deps.ts';
import type { Mail } from './mail.ts';

/** Plain text; for Discord, the JSON of the request. */
export type NewMessage = {
  /** If a message with this id exists, no second one is written. */
  id?: string;
  to: string;
  subject: string;
  text: string;
  serverId?: ObjectId;
  /** The server has reached its limit of messages: the message is counted, not sent. */
  isHeld?: boolean;
};

/** Part of a text's encryption context, so that an encrypted text cannot be moved to the other channel. */
export type Channel = 'mail' | 'discord';

export function mailContext(id: string, channel: Channel = 'mail'): string {
  return `${channel} ${id}`;
}

/** A worker sends it (send-mail.ts). Returns false if the outbox already has a mail with this `id`. */
export async function putMail(deps: MailDeps, mail: NewMessage): Promise<boolean> {
  const mailId = await put(deps, deps.mails, 'mail', mail);
  if (mailId !== null && !mail.isHeld) await deps.producer.add('send-mail', { mailId });
  return mailId !== null;
}

/** `to` is the id of the server whose webhook gets it. */
export async function putDiscordMessage(deps: MailDeps, message: NewMessage): Promise<boolean> {
  const messageId = await put(deps, deps.discordMessages, 'discord', message);
  if (messageId !== null && !message.isHeld) await deps.producer.add('send-discord', { messageId });
  return messageId !== null;
}

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
