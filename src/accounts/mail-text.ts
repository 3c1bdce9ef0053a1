import { t } from '../language/t.ts';
import type { Config } from '../platform/config.ts';
import { type AddressChange, CONFIRM_DAYS } from './address/address-change.ts';
import type { AccountDeletion } from './deletion/account-deletion.ts';

export type SiteNameAndUrl = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;
export type MailText = { subject: string; text: string };

export function mailText(site: SiteNameAndUrl, subject: string, ...paragraphs: string[]): MailText {
  return { subject: `${subject} (${site.SERVICE_NAME})`, text: signed(site, ...paragraphs) };
}

export function signed({ SERVICE_NAME, PUBLIC_URL }: SiteNameAndUrl, ...paragraphs: string[]): string {
  return [...paragraphs, `-- \n${SERVICE_NAME}, ${PUBLIC_URL}`].join('\n\n');
}

type Ends = Pick<AddressChange, 'from' | 'to'>;

/** To the present address: the link confirms or cancels the change. */
export function confirmOldText(site: SiteNameAndUrl, { from, to }: Ends, link: string): MailText {
  return mailText(
    site,
    t('Confirm the change of your address'),
    t(
      'Somebody, most likely you, asked to change the e-mail address of your account from {from} to {to}. Confirm or cancel the change with this link, within {days} days:',
      { from, to, days: CONFIRM_DAYS },
    ),
    link,
    t(
      'The change happens after both addresses have confirmed it. Without your confirmation nothing changes.',
    ),
    t('If it was not you, somebody knows your password. Cancel the change and set a new password: {page}', {
      page: `${site.PUBLIC_URL}/forgot-password`,
    }),
  );
}

/** To the present address if an operator requested the change: the link cancels it. */
export function operatorOldText(site: SiteNameAndUrl, { from, to }: Ends, link: string): MailText {
  return mailText(
    site,
    t('Your address is about to be changed'),
    t(
      'An operator was asked to change the e-mail address of your account from {from} to {to}, because mails to {from} can no longer be read. The change happens when the new address confirms it, within {days} days.',
      { from, to, days: CONFIRM_DAYS },
    ),
    t('If you did not ask for this, cancel the change with this link and tell the operator:'),
    link,
  );
}

/** It contains nothing that was typed into the form: anybody could send a stranger any text in our name. */
export function confirmNewText(site: SiteNameAndUrl, link: string): MailText {
  return mailText(
    site,
    t('Confirm your new address'),
    t(
      'Somebody, most likely you, wants to use this e-mail address for their account. Confirm it with this link, within {days} days:',
      { days: CONFIRM_DAYS },
    ),
    link,
    t(
      'If it was not you, there is nothing to do: without this link nobody has an account with your address.',
    ),
  );
}

/** The mail to both addresses after a change. */
export function changedText(site: SiteNameAndUrl, { from, to }: Ends): MailText {
  return mailText(
    site,
    t('Your address is changed'),
    t(
      'The e-mail address of your account was changed from {from} to {to}. Sign in with the new address from now on. Your other sessions were signed out.',
      { from, to },
    ),
    t('If this was not you, tell the operator at once.'),
  );
}

export function requestedText(
  site: SiteNameAndUrl,
  { dueAt }: Pick<AccountDeletion, 'dueAt'>,
  link: string,
): MailText {
  const at = `${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return mailText(
    site,
    t('Your account will be deleted'),
    t(
      'Somebody, most likely you, asked to delete your account. It will be deleted on {at}, with your servers and reviews. To keep your account, open this link before then:',
      { at },
    ),
    link,
    t(
      'If it was not you, somebody knows your password. Keep your account with the link, and set a new password: {page}',
      { page: `${site.PUBLIC_URL}/forgot-password` },
    ),
  );
}

export function keptText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    t('Your account will not be deleted'),
    t('The deletion of your account was cancelled. Nothing was deleted.'),
  );
}

/** The deletion was not carried out, because no operator would remain. */
export function lastOperatorText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    t('Your account was not deleted'),
    t(
      'You are the last operator of this listing, so your account was not deleted. Make another user an operator, and request the deletion again.',
    ),
  );
}

export function deletedText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    t('Your account is deleted'),
    t('Your account was deleted, with your servers and reviews. We send no more mail to this address.'),
  );
}
