import { type Collection, ObjectId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { Producer } from '../platform/queues.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Mail } from './mail.ts';

/** Dependencies for writing a mail. */
export type Outbox = {
  mails: Collection<Mail>;
  secrets: SecretBox;
  producer: Pick<Producer, 'add'>;
  clock: Clock;
};

/** A mail to send, as plain text. */
type NewMail = {
  /** Identifies a notification that must be sent only once: a second mail with the same id is not written. */
  id?: string;
  to: string;
  subject: string;
  text: string;
};

/** The context with which a mail's text is sealed, so that it cannot be moved to another mail. */
export function mailContext(id: string): string {
  return `mail ${id}`;
}

/**
 * Puts a mail into the outbox. A worker sends it (see send-mail.ts).
 *
 * @returns whether it was written; false when there is already one with its `id`
 */
export async function putMail(
  { mails, secrets, producer, clock }: Outbox,
  { id = new ObjectId().toHexString(), to, subject, text }: NewMail,
): Promise<boolean> {
  const now = clock.now();
  const mail = await checked<Mail>(mails, {
    _id: id,
    to,
    subject,
    sealedText: secrets.seal(text, mailContext(id)),
    createdAt: now,
    nextAt: now,
    attempts: 0,
  });
  try {
    await mails.insertOne(mail, { writeConcern: DURABLE });
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
  await producer.add('send-mail', { mailId: id });
  return true;
}
