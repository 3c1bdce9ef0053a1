import { createHash } from 'node:crypto';
import { t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import type { AccountsDeps } from './deps.ts';
import { type MailText, type SiteNameAndUrl, signed } from './mail-text.ts';
import type { User } from './user.ts';

/** `address` is the complete URL, including the path of PUBLIC_URL. */
export type OneTimeLink = {
  kind: 'set-password' | 'verify-email';
  user: Pick<User, 'email'>;
  address: string;
};

/** Without a mail server, it only logs a warning; an operator can then make a link. */
export async function sendLink(deps: AccountsDeps, link: OneTimeLink): Promise<void> {
  const { config, log } = deps;
  if (config.SMTP_URL === undefined) {
    log.warn({ event: 'account.link_not_sent', kind: link.kind }, 'there is no mail server (SMTP_URL)');
    return;
  }
  await putMail(deps, { to: link.user.email, ...linkText(config, link) });
}

/** Mails at most once a day. The pages do not show that the account exists. */
export async function notifyKnownAddress(deps: AccountsDeps, { email }: Pick<User, 'email'>) {
  const id = `has-account:${createHash('sha256').update(email).digest('hex')}:${dayOf(deps.clock.now())}`;
  await putMail(deps, { id, to: email, ...hasAccountText(deps.config) });
}

/** It contains nothing that was typed into a form: anybody could send a stranger any text in our name. */
export function linkText(site: SiteNameAndUrl, { kind, address }: Pick<OneTimeLink, 'kind' | 'address'>) {
  const { subject, before, after } = MAILS[kind](site.SERVICE_NAME, site.PUBLIC_URL);
  return { subject, text: signed(site, before, address, after) };
}

export function hasAccountText(site: SiteNameAndUrl): MailText {
  const { SERVICE_NAME: name, PUBLIC_URL: url } = site;
  return {
    subject: t('You have an account at {listing} already', { listing: name }),
    text: signed(
      site,
      t(
        'Somebody, most likely you, has just tried to use this address for another account at {listing}. The address has an account there already. Sign in:',
        { listing: name },
      ),
      `${url}/sign-in`,
      t('If you have forgotten your password, set a new one:'),
      `${url}/forgot-password`,
      t('If it was not you, there is nothing to do.'),
    ),
  };
}

const MAILS: Record<
  OneTimeLink['kind'],
  (listing: string, url: string) => { subject: string; before: string; after: string }
> = {
  'set-password': (listing, url) => ({
    subject: t('Set your password at {listing}', { listing }),
    before: t(
      'Set a new password for your account at {listing} ({url}) with this link. It works once, within an hour:',
      { listing, url },
    ),
    after: t('If you did not ask for it, there is nothing to do: your password stays as it is.'),
  }),
  'verify-email': (listing, url) => ({
    subject: t('Confirm your address at {listing}', { listing }),
    before: t(
      'Somebody, most likely you, wants to sign up at {listing} ({url}) with this address. Confirm it and choose your password with this link, within a day:',
      { listing, url },
    ),
    after: t(
      'If it was not you, there is nothing to do: without this link nobody has an account with your address.',
    ),
  }),
};
