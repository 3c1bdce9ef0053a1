import type { WithId } from 'mongodb';
import type { AddressChange } from '../../accounts/address/address-change.ts';
import type { User } from '../../accounts/user.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { time } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { confirmed } from '../shared/parts.ts';

type View = {
  users: string;
  user: WithId<User>;
  change: AddressChange | null;
  sendsMail: boolean;
  typed: Typed;
};

export function userAddressPart({ users, user, change, sendsMail, typed }: View): Html {
  const fields = fieldsOf(typed);
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
      form: html`<form method="post" action="${users}/${user._id.toHexString()}/email" class="stack">
        ${fields.text('email', {
          label: 'New e-mail address',
          type: 'email',
          required: true,
          maxlength: 254,
        })}
        ${fields.area('emailReason', {
          label: 'Internal reason',
          hint: 'For operators only, in the audit log.',
          rows: 2,
          maxlength: 500,
          required: true,
        })}
        <button class="danger" type="submit">Change address</button>
      </form>`,
    })}`;
}
