import { ObjectId } from 'mongodb';
import { checked } from '../platform/document.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { MailDeps } from './deps.ts';
import type { Mail } from './mail.ts';

/** Plain text. */
type NewMail = {
  /** If a mail with this id exists, no second one is written. */
  id?: string;
  to: string;
  subject: string;
  text: string;
  stopUrl?: string;
  serverId?: ObjectId;
  /** The server has reached its limit of mails: this one is counted, not sent. */
  isHeld?: boolean;
};

/** The context of a text's encryption. */
export function mailContext(id: string): string {
  return `mail ${id}`;
}

/** A worker sends it (send-mail.ts). Returns false if the outbox already has a mail with this `id`. */
export async function putMail(
  { mails, secrets, clock, producer }: MailDeps,
  { id = new ObjectId().toHexString(), to, subject, text, stopUrl, serverId, isHeld = false }: NewMail,
): Promise<boolean> {
  const now = clock.now();
  const mail = await checked<Mail>(mails, {
    _id: id,
    to,
    subject,
    ...(isHeld ? { heldAt: now } : { sealedText: secrets.seal(text, mailContext(id)), nextAt: now }),
    ...(stopUrl ? { stopUrl } : {}),
    createdAt: now,
    attempts: 0,
    ...(serverId ? { serverId } : {}),
  });
  try {
    await mails.insertOne(mail, { writeConcern: DURABLE });
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
  if (!isHeld) await producer.add('send-mail', { mailId: id });
  return true;
}
