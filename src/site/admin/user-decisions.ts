import type { AddressChange } from '../../accounts/address/address-change.ts';
import type { UserView } from '../../workflows/show-user.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { time } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { button, card, confirmed } from '../shared/parts.ts';
import { internalReason, reasonFields } from './admin-fields.ts';

export type UserPage = {
  users: string;
  base: string;
  view: UserView;
  change: AddressChange | null;
  sendsMail: boolean;
  isSelf: boolean;
  typed: Typed;
};

export function passwordLinkPart({ users, view: { user }, sendsMail }: UserPage): Html {
  const to = `${users}/${user._id.toHexString()}/link`;
  return html`<p>${
    sendsMail
      ? 'E-mail this user a link to set a new password.'
      : 'Create a link to set a new password. It is shown once; send it to the user yourself.'
  }</p>
  ${button({ to, text: sendsMail ? 'Send password link' : 'Create password link' })}`;
}

const RESET_CONSEQUENCE =
  'The user will sign in with the password only, until they set it up again. Make sure that the request comes from the user.';

export function userDecisions(page: UserPage): Html {
  const { users, view, typed } = page;
  const { user } = view;
  const to = (name: string) => `${users}/${user._id.toHexString()}/${name}`;
  const confirming = user.emailVerified
    ? ''
    : confirmed({
        text: 'Confirm address…',
        consequence:
          'Make sure that the address is the user’s: with a confirmed one the user accepts invitations to servers.',
        form: button({ to: to('confirm-address'), text: 'Confirm address' }),
      });
  return html`${card({ title: 'E-mail address', body: html`${confirming}${addressChange(page)}` })}
  ${card({
    title: 'Two-factor authentication',
    body: user.twoFactorEnabled
      ? confirmed({
          text: 'Reset two-factor authentication',
          consequence: RESET_CONSEQUENCE,
          form: button({ to: to('reset-two-factor'), text: 'Reset', kind: 'danger' }),
        })
      : html`<p class="soft">Off.</p>`,
  })}
  ${card({
    title: 'Role',
    body:
      user.role === 'operator'
        ? confirmed({
            text: 'Remove operator role',
            consequence: 'The user loses access to the admin area at once and keeps their servers.',
            form: button({ to: to('unmake-operator'), text: 'Remove role', kind: 'danger' }),
          })
        : confirmed({
            text: 'Make operator',
            consequence: 'Operators have full access to the admin area and can manage other operators.',
            form: button({ to: to('make-operator'), text: 'Make this user an operator', kind: 'danger' }),
          }),
  })}
  ${card({
    title: 'Suspension',
    body: user.suspendedAt
      ? button({ to: to('lift'), text: 'Lift suspension' })
      : html`<p>
          Signs the user out of all sessions at once. Their servers stay listed, and votes are still delivered.
        </p>
        <form method="post" action="${to('suspend')}" class="stack fields">
          ${reasonFields({
            typed,
            forOwner: { name: 'reasonForOwner', reader: 'the user' },
            internal: { name: 'reason', required: true },
          })}
          <button type="submit" class="danger">Suspend</button>
        </form>`,
  })}`;
}

function addressChange({ users, view: { user }, change, sendsMail, typed }: UserPage): Html {
  const { errors } = typed;
  const consequence = sendsMail
    ? 'For a user who cannot read mails to the present address. The new address gets a link to confirm the change, the present one a link to cancel it. The user is signed out of all sessions; the password and two-factor authentication stay.'
    : 'Changes the address at once and signs the user out of all sessions. The password and two-factor authentication stay.';
  const until = change?.expiresAt ? html`, until ${time(change.expiresAt)}` : '';
  return html`${change ? html`<p>Waiting for a confirmation: <strong>${change.to}</strong>${until}.</p>` : ''}
    ${confirmed({
      text: 'Change e-mail address…',
      consequence: html`${consequence} Make sure that the request comes from the user.`,
      isOpen: Boolean(errors.email || errors.emailReason),
      form: html`<form method="post" action="${users}/${user._id.toHexString()}/email" class="stack fields">
        ${fieldsOf(typed).text('email', {
          label: 'New e-mail address',
          type: 'email',
          required: true,
          maxlength: 254,
        })}
        ${internalReason(typed, 'emailReason')}
        <button class="danger" type="submit">Change address</button>
      </form>`,
    })}`;
}
