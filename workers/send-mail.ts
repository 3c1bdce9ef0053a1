import { dueMails, dueMessages, sendMail } from '../src/mail/send-mail.ts';
import { createSmtpSender } from '../src/mail/smtp.ts';
import { sendDiscordMessage } from '../src/notifications/discord/send-discord.ts';
import type { QueueWork } from './queue-work.ts';

/**
 * How many mails, and how many Discord messages, are sent at once. With one, a slow delivery would delay all others;
 * with many, they would overload a mail server.
 */
const MAILS_AT_ONCE = 4;

/** Sends a mail. The scheduler adds jobs for those whose job was lost or whose next attempt is due. */
export const sendMailWork: QueueWork<'send-mail'> = {
  concurrency: MAILS_AT_ONCE,
  period: {
    every: 'minute',
    due: async (deps) =>
      deps.config.SMTP_URL === undefined ? [] : (await dueMails(deps)).map((mailId) => ({ mailId })),
  },
  processor({ deps, waitNoLonger }) {
    const send = createSmtpSender(deps.config);
    return async ({ mailId }) => {
      // If the mail server was removed from the settings, the mail stays due until a mail server is set again.
      if (deps.config.SMTP_URL === undefined) return { end: 'no-mail-server' };
      return { end: await sendMail({ ...deps, send }, mailId, waitNoLonger) };
    };
  },
};

/** Sends a Discord message, with the same rules as {@link sendMailWork}. */
export const sendDiscordWork: QueueWork<'send-discord'> = {
  concurrency: MAILS_AT_ONCE,
  period: {
    every: 'minute',
    due: async ({ discordMessages, clock }) =>
      (await dueMessages(discordMessages, clock)).map((messageId) => ({ messageId })),
  },
  processor:
    ({ deps, waitNoLonger }) =>
    async ({ messageId }) => ({ end: await sendDiscordMessage(deps, messageId, waitNoLonger) }),
};
