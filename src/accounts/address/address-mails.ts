import { type MailText, mailText, type SiteNameAndUrl } from '../mail-text.ts';
import { type AddressChange, CONFIRM_DAYS } from './address-change.ts';

type Ends = Pick<AddressChange, 'from' | 'to'>;

/** The mail to the present address: its link confirms or cancels the change. */
export function confirmOldText(site: SiteNameAndUrl, { from, to }: Ends, link: string): MailText {
  return mailText(
    site,
    'Confirm the change of your address',
    `Somebody, most likely you, asked to change the e-mail address of your account from ${from} to ${to}. Confirm or cancel the change with this link, within ${CONFIRM_DAYS} days:`,
    link,
    'The change happens after both addresses have confirmed it. Without your confirmation nothing changes.',
    `If it was not you, somebody knows your password. Cancel the change and set a new password: ${site.PUBLIC_URL}/forgot-password`,
  );
}

/** The mail to the present address if an operator requested the change. Its link cancels the change. */
export function operatorOldText(site: SiteNameAndUrl, { from, to }: Ends, link: string): MailText {
  return mailText(
    site,
    'Your address is about to be changed',
    `An operator was asked to change the e-mail address of your account from ${from} to ${to}, because mails to ${from} can no longer be read. The change happens when the new address confirms it, within ${CONFIRM_DAYS} days.`,
    'If you did not ask for this, cancel the change with this link and tell the operator:',
    link,
  );
}

/**
 * The mail to the new address. It contains nothing that was typed into the form: anybody can enter a stranger's
 * address, and could otherwise send the stranger any text in our name.
 */
export function confirmNewText(site: SiteNameAndUrl, link: string): MailText {
  return mailText(
    site,
    'Confirm your new address',
    `Somebody, most likely you, wants to use this e-mail address for their account. Confirm it with this link, within ${CONFIRM_DAYS} days:`,
    link,
    'If it was not you, there is nothing to do: without this link nobody has an account with your address.',
  );
}

/** The mail to both addresses after the change. */
export function changedText(site: SiteNameAndUrl, { from, to }: Ends): MailText {
  return mailText(
    site,
    'Your address is changed',
    `The e-mail address of your account was changed from ${from} to ${to}. Sign in with the new address from now on. Your other sessions were signed out.`,
    'If this was not you, tell the operator at once.',
  );
}
