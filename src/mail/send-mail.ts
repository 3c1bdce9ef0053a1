import type { Collection } from 'mongodb';
import { after, type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Mail } from './mail.ts';
import { type Channel, mailContext } from './outbox.ts';
import type { SendLetter, SendLetterResult } from './smtp.ts';

type SendDeps = {
  mails: Collection<Mail>;
  secrets: SecretBox;
  clock: Clock;
  log: Logger;
  send: SendLetter;
};

export type Sender = Omit<SendDeps, 'mails'> & {
  messages: Collection<Mail>;
  channel: Channel;
  givenUpMs: number;
};

const SCHEDULE = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

/** Sign-up links, for example, have expired by then. */
const MAIL_GIVEN_UP_MS = DAY;

/** Longer than an attempt may take (smtp.ts). */
const LEASE_MS = 2 * MINUTE;

const MOST_A_ROUND = 1_000;

export type MessageResult = SendLetterResult['kind'] | 'given-up' | 'not-due';

export function sendMail(
  { mails, ...deps }: SendDeps,
  mailId: string,
  signal: AbortSignal,
): Promise<MessageResult> {
  const sender = { ...deps, messages: mails, channel: 'mail' as const, givenUpMs: MAIL_GIVEN_UP_MS };
  return sendMessage(sender, mailId, signal);
}

/**
 * The attempt is recorded before the first byte is sent. A message can be sent twice only if the result of an attempt
 * is unknown. If `signal` aborts the attempt, the message is due again at once.
 */
export async function sendMessage(
  deps: Sender,
  messageId: string,
  signal: AbortSignal,
): Promise<MessageResult> {
  const message = await takeMessage(deps, messageId);
  if (!message) return 'not-due';
  const { _id, to, subject, attempts } = message;
  let text: string;
  try {
    text = deps.secrets.open(message.sealedText ?? '', mailContext(_id, deps.channel));
  } catch (error) {
    // The key is lost, so the message can never be sent.
    return giveUp(deps, message, String(error));
  }
  const result = await deps.send({ id: _id, to, subject, text }, signal);
  if (result.kind === 'sent') {
    await record(deps, message, { sentAt: deps.clock.now() }, DONE);
    deps.log.info({ event: `${deps.channel}.sent`, messageId, attempts });
    return 'sent';
  }
  if (result.kind === 'refused') return giveUp(deps, message, result.reason);
  const now = deps.clock.now();
  const wait = result.retryAfterMs ?? SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  const nextAt = signal.aborted ? now : after(now, wait);
  if (nextAt.getTime() - message.createdAt.getTime() > deps.givenUpMs)
    return giveUp(deps, message, result.reason);
  await record(deps, message, { nextAt, lastFault: result.reason }, { leaseUntil: '' });
  deps.log.warn({ event: `${deps.channel}.failed`, messageId, attempts, reason: result.reason });
  return 'failed';
}

export function dueMails({ mails, clock }: Pick<SendDeps, 'mails' | 'clock'>): Promise<string[]> {
  return dueMessages(mails, clock);
}

/** The ids of due messages, also of those whose jobs were lost. */
export function dueMessages(messages: Collection<Mail>, clock: Clock): Promise<string[]> {
  return messages
    .find({ nextAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ nextAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

function takeMessage({ messages, clock }: Sender, messageId: string): Promise<Mail | null> {
  return messages.findOneAndUpdate(
    {
      _id: messageId,
      nextAt: { $lte: clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { attempts: { $add: ['$attempts', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', writeConcern: DURABLE },
  );
}

/** The text may contain a secret link. */
const DONE = { nextAt: '', leaseUntil: '', sealedText: '' } as const;

async function giveUp(deps: Sender, message: Mail, reason: string): Promise<'given-up'> {
  const { _id: messageId, attempts } = message;
  await record(deps, message, { givenUpAt: deps.clock.now(), lastFault: reason }, DONE);
  deps.log.error({ event: `${deps.channel}.given_up`, messageId, attempts, reason });
  return 'given-up';
}

/** Unless another worker has begun the next attempt meanwhile. */
async function record(
  { messages }: Sender,
  { _id, attempts }: Mail,
  set: Partial<Mail>,
  unset: Partial<Record<keyof typeof DONE, ''>>,
): Promise<void> {
  await messages.updateOne({ _id, attempts }, { $set: set, $unset: unset }, { writeConcern: DURABLE });
}
