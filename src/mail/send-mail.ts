import type { Collection } from 'mongodb';
import { after, type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Mail } from './mail.ts';
import { mailContext } from './outbox.ts';
import type { Send, SendResult } from './smtp.ts';

/** Dependencies for sending mail. */
export type Sending = {
  mails: Collection<Mail>;
  secrets: SecretBox;
  clock: Clock;
  log: Logger;
  send: Send;
};

/** The delay after each failed attempt; the last one repeats. */
const SCHEDULE = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

/** A mail is given up after this time: its links have expired. */
const GIVEN_UP_MS = DAY;

/** Longer than an attempt may take (see smtp.ts). */
const LEASE_MS = 2 * MINUTE;

/** The most due mails that one round finds. */
const MOST_A_ROUND = 1_000;

/** The result of a job for a mail; `not-due`: there is nothing to do now. */
type MailResult = SendResult['kind'] | 'given-up' | 'not-due';

/**
 * Sends a mail of the outbox if it is due and no other worker is sending it. The attempt is recorded before the first
 * byte is sent. A mail is sent twice only if the result of an attempt is unknown, because the worker died or the
 * connection broke.
 *
 * @param signal - aborts the attempt; the mail is then due again at once
 */
export async function sendMail(deps: Sending, mailId: string, signal: AbortSignal): Promise<MailResult> {
  const mail = await claim(deps, mailId);
  if (!mail) return 'not-due';
  const { _id, to, subject, attempts } = mail;
  let text: string;
  try {
    text = deps.secrets.open(mail.sealedText ?? '', mailContext(_id));
  } catch (error) {
    // The mail was sealed under a lost key and can never be read.
    return giveUp(deps, mail, String(error));
  }
  const result = await deps.send({ id: _id, to, subject, text }, signal);
  if (result.kind === 'sent') {
    await record(deps, mail, { sentAt: deps.clock.now() }, DONE);
    deps.log.info({ event: 'mail.sent', mailId, attempts });
    return 'sent';
  }
  if (result.kind === 'refused') return giveUp(deps, mail, result.reason);
  const now = deps.clock.now();
  const wait = SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  const nextAt = signal.aborted ? now : after(now, wait);
  if (nextAt.getTime() - mail.createdAt.getTime() > GIVEN_UP_MS) return giveUp(deps, mail, result.reason);
  await record(deps, mail, { nextAt, lastFault: result.reason }, { leaseUntil: '' });
  deps.log.warn({ event: 'mail.failed', mailId, attempts, reason: result.reason });
  return 'failed';
}

/** The ids of due mails, including those whose jobs were lost. */
export function dueMails({ mails, clock }: Pick<Sending, 'mails' | 'clock'>): Promise<string[]> {
  return mails
    .find({ nextAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ nextAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

function claim({ mails, clock }: Sending, mailId: string): Promise<Mail | null> {
  return mails.findOneAndUpdate(
    {
      _id: mailId,
      nextAt: { $lte: clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { attempts: { $add: ['$attempts', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', writeConcern: DURABLE },
  );
}

/** Fields to remove from a finished mail: its text is a secret. */
const DONE = { nextAt: '', leaseUntil: '', sealedText: '' } as const;

async function giveUp(deps: Sending, mail: Mail, reason: string): Promise<'given-up'> {
  await record(deps, mail, { givenUpAt: deps.clock.now(), lastFault: reason }, DONE);
  deps.log.error({ event: 'mail.given_up', mailId: mail._id, attempts: mail.attempts, reason });
  return 'given-up';
}

/** Records the result of an attempt, unless another worker has claimed the mail meanwhile. */
async function record(
  { mails }: Sending,
  { _id, attempts }: Mail,
  set: Partial<Mail>,
  unset: Partial<Record<keyof typeof DONE, ''>>,
): Promise<void> {
  await mails.updateOne({ _id, attempts }, { $set: set, $unset: unset }, { writeConcern: DURABLE });
}
