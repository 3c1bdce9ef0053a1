import type { Collection } from 'mongodb';
import { after, type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Mail } from './mail.ts';
import { mailContext } from './outbox.ts';
import type { SendLetter, SendLetterResult } from './smtp.ts';

type SendDeps = {
  mails: Collection<Mail>;
  secrets: SecretBox;
  clock: Clock;
  log: Logger;
  send: SendLetter;
};

const SCHEDULE = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

/** Sign-up links, for example, have expired by then. */
const GIVEN_UP_MS = DAY;

/** Longer than an attempt may take (smtp.ts). */
const LEASE_MS = 2 * MINUTE;

const MOST_A_ROUND = 1_000;

type MailResult = SendLetterResult['kind'] | 'given-up' | 'not-due';

/**
 * The attempt is recorded before the first byte is sent. A mail can be sent twice only if the result of an attempt
 * is unknown. If `signal` aborts the attempt, the mail is due again at once.
 */
export async function sendMail(deps: SendDeps, mailId: string, signal: AbortSignal): Promise<MailResult> {
  const mail = await takeMail(deps, mailId);
  if (!mail) return 'not-due';
  const { _id, to, subject, stopUrl, attempts } = mail;
  let text: string;
  try {
    text = deps.secrets.open(mail.sealedText ?? '', mailContext(_id));
  } catch (error) {
    // The key is lost, so the mail can never be sent.
    return giveUp(deps, mail, String(error));
  }
  const result = await deps.send({ id: _id, to, subject, text, stopUrl }, signal);
  if (result.kind === 'sent') {
    await record(deps, mail, { sentAt: deps.clock.now() }, DONE);
    deps.log.info({ event: 'mail.sent', messageId: mailId, attempts });
    return 'sent';
  }
  if (result.kind === 'refused') return giveUp(deps, mail, result.reason);
  const now = deps.clock.now();
  const wait = result.retryAfterMs ?? SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  const nextAt = signal.aborted ? now : after(now, wait);
  if (nextAt.getTime() - mail.createdAt.getTime() > GIVEN_UP_MS) return giveUp(deps, mail, result.reason);
  await record(deps, mail, { nextAt, lastFault: result.reason }, { leaseUntil: '' });
  deps.log.warn({ event: 'mail.failed', messageId: mailId, attempts, reason: result.reason });
  return 'failed';
}

/** The ids of due mails, also of those whose jobs were lost. */
export function dueMails({ mails, clock }: Pick<SendDeps, 'mails' | 'clock'>): Promise<string[]> {
  return mails
    .find({ nextAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ nextAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

function takeMail({ mails, clock }: SendDeps, mailId: string): Promise<Mail | null> {
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

/** The text may contain a secret link. */
const DONE = { nextAt: '', leaseUntil: '', sealedText: '', stopUrl: '' } as const;

async function giveUp(deps: SendDeps, mail: Mail, reason: string): Promise<'given-up'> {
  const { _id: mailId, attempts } = mail;
  await record(deps, mail, { givenUpAt: deps.clock.now(), lastFault: reason }, DONE);
  deps.log.error({ event: 'mail.given_up', messageId: mailId, attempts, reason });
  return 'given-up';
}

/** Unless another worker has begun the next attempt meanwhile. */
async function record(
  { mails }: SendDeps,
  { _id, attempts }: Mail,
  set: Partial<Mail>,
  unset: Partial<Record<keyof typeof DONE, ''>>,
): Promise<void> {
  await mails.updateOne({ _id, attempts }, { $set: set, $unset: unset }, { writeConcern: DURABLE });
}
