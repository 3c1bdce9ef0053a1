import { type MailText, mailText, type SiteNameAndUrl } from '../mail-text.ts';
import type { AccountDeletion } from './account-deletion.ts';

/** The mail about a requested deletion, with the link that cancels it. */
export function requestedText(
  site: SiteNameAndUrl,
  { dueAt }: Pick<AccountDeletion, 'dueAt'>,
  link: string,
): MailText {
  const at = `${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return mailText(
    site,
    'Your account will be deleted',
    `Somebody, most likely you, asked to delete your account. It will be deleted on ${at}, with your servers and reviews. To keep your account, open this link before then:`,
    link,
    `If it was not you, somebody knows your password. Keep your account with the link, and set a new password: ${site.PUBLIC_URL}/forgot-password`,
  );
}

/** The mail about a cancelled deletion. */
export function keptText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    'Your account will not be deleted',
    'The deletion of your account was cancelled. Nothing was deleted.',
  );
}

/** The mail about a deletion that was not carried out, because no operator would remain. */
export function lastOperatorText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    'Your account was not deleted',
    'You are the last operator of this listing, so your account was not deleted. Make another user an operator, and request the deletion again.',
  );
}

/** The last mail, after the account was deleted. */
export function deletedText(site: SiteNameAndUrl): MailText {
  return mailText(
    site,
    'Your account is deleted',
    'Your account was deleted, with your servers and reviews. We send no more mail to this address.',
  );
}
