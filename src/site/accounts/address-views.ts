import { type AddressChange, CONFIRM_DAYS } from '../../accounts/address/address-change.ts';
import type { Confirmed } from '../../accounts/address/change-address.ts';
import type { User } from '../../accounts/user.ts';
import { t } from '../../language/t.ts';
import type { Typed } from '../shared/form.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { badge, button, facts, linkTo } from '../shared/parts.ts';
import { noPasswordYet, reAuthenticationFields } from '../shared/re-authentication.ts';
import { emailField } from './account-fields.ts';

/** The part of the account page with the address, and with a requested change that is not confirmed yet. */
export function addressPart(
  base: string,
  { email }: Pick<User, 'email'>,
  change: AddressChange | null,
): Html {
  return html`${facts([[t('E-mail address'), email]])}
    ${change ? waiting(base, change) : ''}
    <p><a class="button quiet" href="${base}/account/email">${t('Change e-mail address')}</a></p>`;
}

function waiting(base: string, { to, oldConfirmedAt, newConfirmedAt, expiresAt }: AddressChange): Html {
  const state = (at: Date | null | undefined) =>
    at ? badge('good', t('confirmed')) : badge('attention', t('not confirmed'));
  return html`<div class="stack">
    <p>${t('Change to <strong>{to}</strong>: open the links in our mails to both addresses.', { to })}</p>
    ${facts([
      [t('Present address'), state(oldConfirmedAt)],
      [t('New address'), state(newConfirmedAt)],
      [t('Lapses'), expiresAt ? time(expiresAt) : undefined],
    ])}
    ${button({ to: `${base}/account/email/cancel`, text: t('Cancel the change') })}
  </div>`;
}

type Changing = {
  base: string;
  user: Pick<User, 'email' | 'twoFactorEnabled'>;
  hasPassword: boolean;
  sendsMail: boolean;
};

/** The page with the form for a new address. It says what happens after the form was sent. */
export function changePage({ base, user, hasPassword, sendsMail }: Changing, typed: Typed): Page {
  const consequence = sendsMail
    ? t(
        'We send a link to both addresses. The change happens after you have opened both and confirmed, within {days} days. Your other sessions are then signed out.',
        { days: CONFIRM_DAYS },
      )
    : t('The new address is what you sign in with. Your other sessions are signed out.');
  const ifNotReadable = t(
    'If you cannot read mails to your present address, ask the operator of this listing.',
  );
  return {
    title: t('Change your e-mail address'),
    width: 'narrow',
    body: html`<h1>${t('Change your e-mail address')}</h1>
      <p>${consequence}</p>
      <form method="post" action="${base}/account/email" class="card stack">
        ${facts([[t('Present address'), user.email]])}
        ${emailField(typed, { label: t('New e-mail address'), autocomplete: 'email' })}
        ${reAuthenticationFields(typed, user)}
        <button type="submit">${t('Change address')}</button>
      </form>
      ${hasPassword ? '' : noPasswordYet(base)}
      ${sendsMail ? html`<p class="soft small">${ifNotReadable}</p>` : ''}
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  };
}

/** The page after a request for a new address. It does not reveal whether another account has this address. */
export function sentPage(base: string, from: string, to: string): Page {
  const sent = t(
    'We have sent a link to {from} and one to {to}. Open both within {days} days. Until then your address stays as it is.',
    { days: CONFIRM_DAYS, from, to },
  );
  return {
    title: t('Confirm both addresses'),
    width: 'narrow',
    body: html`<h1>${t('Confirm both addresses')}</h1>
      <p>${sent}</p>
      <p class="soft">${t('No mail? Check your spam folder and the address above.')}</p>
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  };
}

type Found = { change: AddressChange; end: 'old' | 'new' };

/**
 * The page behind a confirmation link. `end` says whether the link went to the old or to the new address. The old
 * address can also cancel the change; if an operator requested the change, the old address can only cancel it.
 */
export function confirmPage(base: string, { change, end }: Found, token: string): Page {
  const { from, to, by } = change;
  const isOldOfOperators = end === 'old' && Boolean(by);
  const title = isOldOfOperators
    ? t('Your address is about to be changed')
    : t('Confirm the change of your address');
  const confirm = end === 'old' ? t('Confirm change') : t('Confirm this address');
  const remark = isOldOfOperators
    ? t(
        'An operator was asked for this change. It happens when the new address confirms it. If you did not ask for it, cancel it and tell the operator.',
      )
    : ifUnasked(base, end);
  return {
    title,
    width: 'narrow',
    body: html`<h1>${title}</h1>
      <div class="card stack">
        ${facts(
          end === 'old'
            ? [
                [t('Present address'), from],
                [t('New address'), to],
              ]
            : [[t('New address'), to]],
        )}
        <div class="actions">
          ${isOldOfOperators ? '' : decision(base, token, 'confirm', confirm)}
          ${end === 'old' ? decision(base, token, 'cancel', t('Cancel change')) : ''}
        </div>
        <p class="soft small">${remark}</p>
      </div>`,
  };
}

function ifUnasked(base: string, end: Found['end']): Content {
  if (end === 'new') return t('If you did not ask for this, close this page. Nothing will change.');
  return t(
    'If you did not ask for this, somebody knows your password. Cancel the change, then <a>set a new password</a>.',
    { a: linkTo(`${base}/forgot-password`) },
  );
}

function decision(base: string, token: string, name: 'confirm' | 'cancel', text: string): Html {
  const kind = name === 'confirm' ? 'primary' : 'quiet';
  return button({ to: `${base}/confirm-address`, text, kind, hidden: { token, decision: name } });
}

/** The page after a user has confirmed or cancelled a change. `result` says what became of the change. */
export function confirmedPage(
  base: string,
  { from, to }: Pick<AddressChange, 'from' | 'to'>,
  result: Exclude<Confirmed, 'useless-link'> | 'cancelled',
  end: 'old' | 'new' = 'old',
): Page {
  const stays = t(
    'The address of your account is still {from}. If you did not ask for the change, <a>set a new password</a> now: somebody knows yours.',
    { from, a: linkTo(`${base}/forgot-password`) },
  );
  const [title, body] = {
    waiting: [
      t('One address is confirmed'),
      html`<p>${t('Now open the link in our mail to {to}. The address changes after that.', {
        to: end === 'old' ? to : t('the present address of the account'),
      })}</p>`,
    ],
    changed: [
      t('The address is changed'),
      html`<p>${t('The address of your account is now {to}. Sign in with it from now on.', { to })}</p>
        <p><a class="button" href="${base}/account">${t('Your account')}</a></p>`,
    ],
    taken: [
      t('The address was not changed'),
      html`<p>${t('Another account has the new address by now.')}</p>
        <p><a href="${base}/account">${t('Your account')}</a></p>`,
    ],
    cancelled: [t('The change is cancelled'), html`<p>${stays}</p>`],
  }[result] as [string, Html];
  return { title, width: 'narrow', body: html`<h1>${title}</h1>${body}` };
}

/** The page behind an invalid link. Usually, the change was completed, cancelled or replaced, or has expired. */
export function invalidLinkPage(base: string): Page {
  const why = t(
    'The change is complete, was cancelled or replaced by a newer one, or is more than {days} days old; or the link is incomplete.',
    { days: CONFIRM_DAYS },
  );
  return {
    title: t('This link does not work'),
    width: 'narrow',
    body: html`<h1>${t('This link does not work')}</h1>
      <p>${why}</p>
      <p>${t('See <a>your account</a>.', { a: linkTo(`${base}/account`) })}</p>`,
  };
}
