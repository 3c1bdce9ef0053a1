import { createHash } from 'node:crypto';
import { putMail } from '../mail/outbox.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import type { AccountsDeps } from './deps.ts';
import { hasAccountText, linkText } from './link-text.ts';
import type { OneTimeLink } from './one-time-link.ts';
import type { User } from './user.ts';

/**
 * Mails a one-time link to its user. Without a mail server, it only logs a warning; an operator can then make a link.
 */
export async function sendLink(sources: AccountsDeps, link: OneTimeLink): Promise<void> {
  const { config, log } = sources;
  if (config.SMTP_URL === undefined) {
    log.warn({ event: 'account.link_not_sent', kind: link.kind }, 'there is no mail server (SMTP_URL)');
    return;
  }
  await putMail(sources, { to: link.user.email, ...linkText(config, link) });
}

/**
 * Mails users, at most once a day, that somebody signed up with their address or wanted to change to it. The pages do
 * not show that the account exists.
 */
export async function notifyKnownAddress(
  sources: AccountsDeps,
  { email }: Pick<User, 'email'>,
): Promise<void> {
  const id = `has-account:${createHash('sha256').update(email).digest('hex')}:${dayOf(sources.clock.now())}`;
  await putMail(sources, { id, to: email, ...hasAccountText(sources.config) });
}
