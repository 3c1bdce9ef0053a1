import type { Collection } from 'mongodb';
import { after, type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Mail } from './mail.ts';
import { mailContext } from './outbox.ts';
import type { Send, SendResult } from './smtp.ts';

/** What sending works on. */
export type Sending = {
  mails: Collection<Mail>;
  secrets: SecretBox;
  clock: Clock;
  log: Logger;
  send: Send;
};

/** How long to wait after each attempt that failed; the last one goes on. */
const SCHEDULE = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

/** A mail that could not be sent by then is of no use to anybody: links in it have run out. */
const GIVEN_UP_MS = DAY;

/** Longer than an attempt may take (see smtp.ts). */
const LEASE_MS = 2 * MINUTE;

/** So many due mails are looked for in one round. */
const MOST_A_ROUND = 1_000;

/** What came of a mail that a job names; `not-due`: there is nothing to do for it now. */
type MailResult = SendResult['kind'] | 'given-up' | 'not-due';

/**
 * Sends a mail of the outbox, if it is due and nobody else is sending it. The attempt is recorded before the
 * first byte goes out: a mail is sent again only where the end of an attempt is not known, because the worker
 * died or the line broke.
 *
 * @param signal - gives the attempt up: the mail is due again at once
 */
export async function sendMail(deps: Sending, mailId: string, signal: AbortSignal): Promise<MailResult> {
  const mail = await claim(deps, mailId);
  if (!mail) return 'not-due';
  const { _id, to, subject, attempts } = mail;
  let text: string;
  try {
    text = deps.secrets.open(mail.sealedText ?? '', mailContext(_id));
  } catch (error) {
    // Sealed under a key that is gone: nobody will ever read it.
    return giveUp(deps, mail, String(error));
  }
  const end = await deps.send({ id: _id, to, subject, text }, signal);
  if (end.kind === 'sent') {
    await record(deps, mail, { sentAt: deps.clock.now() }, DONE);
    deps.log.info({ event: 'mail.sent', mailId, attempts });
    return 'sent';
  }
  if (end.kind === 'refused') return giveUp(deps, mail, end.fault);
  const now = deps.clock.now();
  const wait = SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  const nextAt = signal.aborted ? now : after(now, wait);
  if (nextAt.getTime() - mail.createdAt.getTime() > GIVEN_UP_MS) return giveUp(deps, mail, end.fault);
  await record(deps, mail, { nextAt, lastFault: end.fault }, { leaseUntil: '' });
  deps.log.warn({ event: 'mail.failed', mailId, attempts, reason: end.fault });
  return 'failed';
}

/** The ids of mails that are due: their jobs may have been lost, or their next time has come. */
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

/** What a mail that is done has no more: its text is a secret. */
const DONE = { nextAt: '', leaseUntil: '', sealedText: '' } as const;

async function giveUp(deps: Sending, mail: Mail, fault: string): Promise<'given-up'> {
  await record(deps, mail, { givenUpAt: deps.clock.now(), lastFault: fault }, DONE);
  deps.log.error({ event: 'mail.given_up', mailId: mail._id, attempts: mail.attempts, reason: fault });
  return 'given-up';
}

/** Records the end of an attempt, unless another worker took the mail over meanwhile. */
async function record(
  { mails }: Sending,
  { _id, attempts }: Mail,
  set: Partial<Mail>,
  unset: Partial<Record<keyof typeof DONE, ''>>,
): Promise<void> {
  await mails.updateOne({ _id, attempts }, { $set: set, $unset: unset }, { writeConcern: DURABLE });
}
