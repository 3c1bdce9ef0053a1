import type { Processor } from 'bullmq';
import { sendMail } from '../src/mail/send-mail.ts';
import { createSend } from '../src/mail/smtp.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { Platform } from '../src/process/platform.ts';

/**
 * Sends the mail that a job names. One that failed is enqueued again by the scheduler when its next time has
 * come.
 *
 * @param waitNoLonger - aborted when a worker that stops has waited long enough
 */
export function sendMailWorker(
  platform: Platform,
  waitNoLonger: AbortSignal,
): Processor<Payload<'send-mail'>> {
  const { SMTP_URL } = platform.config;
  const send = SMTP_URL === undefined ? null : createSend({ ...platform.config, SMTP_URL });
  return async (job) => {
    const { mailId } = QUEUES['send-mail'].payload.parse(job.data);
    // What was written while there was a mail server waits for the next one, for a day.
    if (!send) return { end: 'no-mail-server' };
    return { end: await sendMail({ ...platform, send }, mailId, waitNoLonger) };
  };
}
