import { html } from 'hono/html';
import type { AddressChange } from '../../accounts/address/address-change.ts';
import type { Confirmed } from '../../accounts/address/change-address.ts';
import type { User } from '../../accounts/user.ts';
import type { Typed } from '../form.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { badge, button, facts, notice, textField } from '../parts.ts';
import { time } from '../words.ts';
import { proofFields } from './proof.ts';

/** The address on the account page, and a change that waits for confirmations. */
export function addressPart(
  base: string,
  { email }: Pick<User, 'email'>,
  change: AddressChange | null,
): Html {
  return html`${facts([['E-mail address', email]])}
    ${change ? waiting(base, change) : ''}
    <p><a class="button quiet" href="${base}/account/email">Change e-mail address</a></p>`;
}

function waiting(base: string, { to, oldConfirmedAt, newConfirmedAt, expiresAt }: AddressChange): Html {
  const state = (at: Date | null | undefined) =>
    at ? badge('good', 'confirmed') : badge('attention', 'not confirmed');
  return html`<div class="stack">
    <p>Change to <strong>${to}</strong>: open the links in our mails to both addresses.</p>
    ${facts([
      ['Present address', state(oldConfirmedAt)],
      ['New address', state(newConfirmedAt)],
      ['Lapses', expiresAt ? time(expiresAt) : undefined],
    ])}
    ${button({ to: `${base}/account/email/cancel`, text: 'Cancel the change' })}
  </div>`;
}

type Changing = {
  base: string;
  user: Pick<User, 'email' | 'twoFactorEnabled'>;
  hasPassword: boolean;
  sendsMail: boolean;
};

export function changePage({ base, user, hasPassword, sendsMail }: Changing, typed: Typed): Page {
  const { values, errors } = typed;
  return {
    title: 'Change your e-mail address',
    width: 'narrow',
    body: html`<h1>Change your e-mail address</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <p>${
        sendsMail
          ? 'We send a link to both addresses. The change happens after you have opened both and confirmed, within three days. Your other sessions are then signed out.'
          : 'The new address is what you sign in with. Your other sessions are signed out.'
      }</p>
      <form method="post" action="${base}/account/email" class="card stack">
        ${facts([['Present address', user.email]])}
        ${textField({ name: 'email', label: 'New e-mail address', type: 'email', autocomplete: 'email', required: true, maxlength: 254, value: values.email ?? '', error: errors.email })}
        ${proofFields(typed, user)}
        <button type="submit">Change address</button>
      </form>
      ${hasPassword ? '' : html`<p class="soft small">You have no password yet. <a href="${base}/forgot-password">Set one</a> first.</p>`}
      ${sendsMail ? html`<p class="soft small">If you cannot read mails to your present address, ask the operator of this listing.</p>` : ''}
      <p><a href="${base}/account">Back to your account</a></p>`,
  };
}

/** The same whether another account has the new address or not. */
export function sentPage(base: string, from: string, to: string): Page {
  return {
    title: 'Confirm both addresses',
    width: 'narrow',
    body: html`<h1>Confirm both addresses</h1>
      <p>We have sent a link to ${from} and one to ${to}. Open both within three days. Until then your address stays as it is.</p>
      <p class="soft">No mail? Check your spam folder and the address above.</p>
      <p><a href="${base}/account">Back to your account</a></p>`,
  };
}

type Found = { change: AddressChange; end: 'old' | 'new' };

/** The page behind a link. The old end may cancel too. */
export function confirmPage(base: string, { change, end }: Found, token: string): Page {
  const { from, to } = change;
  return {
    title: 'Confirm the change of your address',
    width: 'narrow',
    body: html`<h1>Confirm the change of your address</h1>
      <div class="card stack">
        ${facts(
          end === 'old'
            ? [
                ['Present address', from],
                ['New address', to],
              ]
            : [['New address', to]],
        )}
        <div class="actions">
          ${decision(base, token, 'confirm', end === 'old' ? 'Confirm change' : 'Confirm this address')}
          ${end === 'old' ? decision(base, token, 'cancel', 'Cancel change') : ''}
        </div>
        <p class="soft small">${
          end === 'old'
            ? html`If you did not ask for this, somebody knows your password. Cancel the change, then <a href="${base}/forgot-password">set a new password</a>.`
            : 'If you did not ask for this, close this page. Nothing will change.'
        }</p>
      </div>`,
  };
}

function decision(base: string, token: string, name: 'confirm' | 'cancel', text: string): Html {
  const kind = name === 'confirm' ? 'primary' : 'quiet';
  return button({ to: `${base}/confirm-address`, text, kind, hidden: { token, decision: name } });
}

/** What a decision led to. */
export function confirmedPage(
  base: string,
  { from, to }: Pick<AddressChange, 'from' | 'to'>,
  result: Exclude<Confirmed, 'useless-link'> | 'cancelled',
  end: 'old' | 'new' = 'old',
): Page {
  const [title, body] = {
    waiting: [
      'One address is confirmed',
      html`<p>Now open the link in our mail to ${end === 'old' ? to : 'the present address of the account'}. The address changes after that.</p>`,
    ],
    changed: [
      'The address is changed',
      html`<p>The address of your account is now ${to}. Sign in with it from now on.</p>
        <p><a class="button" href="${base}/account">Your account</a></p>`,
    ],
    taken: [
      'The address was not changed',
      html`<p>Another account has the new address by now.</p>
        <p><a href="${base}/account">Your account</a></p>`,
    ],
    cancelled: [
      'The change is cancelled',
      html`<p>The address of your account is still ${from}. If you did not ask for the change, <a href="${base}/forgot-password">set a new password</a> now: somebody knows yours.</p>`,
    ],
  }[result] as [string, Html];
  return { title, width: 'narrow', body: html`<h1>${title}</h1>${body}` };
}

export function invalidLinkPage(base: string): Page {
  return {
    title: 'This link does not work',
    width: 'narrow',
    body: html`<h1>This link does not work</h1>
      <p>The change is complete, was cancelled or replaced by a newer one, or is more than three days old; or the link is incomplete.</p>
      <p>See <a href="${base}/account">your account</a>.</p>`,
  };
}
