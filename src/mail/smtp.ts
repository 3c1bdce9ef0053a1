import { createHash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { printable } from '../platform/printable.ts';

/** A mail as it goes out. */
export type Letter = { id: string; to: string; subject: string; text: string };

/**
 * How an attempt to send a mail ended.
 *
 * - `sent`: the mail server took it.
 * - `refused`: it will never take this mail to this address.
 * - `failed`: again later. It may have taken it, where the line broke after the text was on its way.
 */
export type SendResult = { kind: 'sent' } | { kind: 'refused' | 'failed'; fault: string };

/** Sends one mail; never throws for anything that a mail server does. `signal` gives it up. */
export type Send = (letter: Letter, signal: AbortSignal) => Promise<SendResult>;

/** Each step has its time, and so has the whole: a server that drips must not hold a worker's place. */
const CONNECT_MS = 10 * SECOND;
const SILENCE_MS = 20 * SECOND;
const LONGEST_SEND_MS = 60 * SECOND;

/**
 * Sends over `SMTP_URL`, one connection for each mail: there are few.
 *
 * @param longestMs - an attempt is given up after this many milliseconds
 */
export function createSend(
  config: Pick<Config, 'MAIL_FROM' | 'PUBLIC_URL'> & { SMTP_URL: string },
  longestMs = LONGEST_SEND_MS,
): Send {
  const transport = createTransport({
    url: config.SMTP_URL,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ id, to, subject, text }, signal) => {
    try {
      await transport.sendMail({
        from: config.MAIL_FROM,
        to: { name: '', address: to },
        subject,
        text,
        messageId: messageId(id, config),
        // RFC 3834: nobody's holiday answers this.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
      });
      return { kind: 'sent' };
    } catch (error) {
      return endOf(error);
    }
  };
}

/** The same in every attempt, so that a mail server or reader can see that a second one is the first. */
function messageId(id: string, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  const name = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return `<${name}@${new URL(PUBLIC_URL).hostname}>`;
}

function endOf(error: unknown): SendResult {
  const { message, code, command, permanent } = error as Error & {
    code?: string;
    command?: string;
    permanent?: boolean;
  };
  const fault = printable(`${code ?? ''} ${message}`);
  // A refused sender or sign-in is a fault of ours, which an operator may mend; a recipient or text is final.
  const isFinal = permanent === true && (command === 'RCPT TO' || command === 'DATA');
  return { kind: isFinal ? 'refused' : 'failed', fault };
}
