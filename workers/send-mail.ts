import type { Processor } from 'bullmq';
import { sendMail } from '../src/mail/send-mail.ts';
import { createSend } from '../src/mail/smtp.ts';
import { sendDiscordMessage } from '../src/notifications/discord/send-discord.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/**
 * Returns the processor of `send-mail`. After a failure the scheduler adds the job again when the next attempt is due.
 *
 * @param waitNoLonger - aborted when a stopping worker has waited long enough for its jobs
 */
export function sendMailWorker(deps: AppDeps, waitNoLonger: AbortSignal): Processor<Payload<'send-mail'>> {
  const send = createSend(deps.config);
  return async (job) => {
    const { mailId } = QUEUES['send-mail'].payload.parse(job.data);
    // If the mail server was removed from the settings, the mail stays due until a mail server is set again.
    if (deps.config.SMTP_URL === undefined) return { end: 'no-mail-server' };
    return { end: await sendMail({ ...deps, send }, mailId, waitNoLonger) };
  };
}

/** Returns the processor of `send-discord`, with the same rules as {@link sendMailWorker}. */
export function sendDiscordWorker(
  deps: AppDeps,
  waitNoLonger: AbortSignal,
): Processor<Payload<'send-discord'>> {
  return async (job) => {
    const { messageId } = QUEUES['send-discord'].payload.parse(job.data);
    return { end: await sendDiscordMessage(deps, messageId, waitNoLonger) };
  };
}
