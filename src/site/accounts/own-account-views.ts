import type { WithId } from 'mongodb';
import type { AddressChange } from '../../accounts/address/address-change.ts';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import type { AccountDeletion } from '../../accounts/deletion/account-deletion.ts';
import type { OtherSite } from '../../accounts/other-sites/other-sites.ts';
import type { SignedIn } from '../../accounts/sessions.ts';
import { requiresPassword } from '../../accounts/sign-in-rules.ts';
import type { SignInSession, User } from '../../accounts/user.ts';
import { defineMessage, t } from '../../language/t.ts';
import { wantsMailOf } from '../../notifications/kinds.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { time, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { kindBoxes } from '../shared/kind-boxes.ts';
import type { Page } from '../shared/layout.ts';
import { mailReminderForm } from '../shared/mail-reminder.ts';
import { badge, button, card, dataTable, facts, linkTo } from '../shared/parts.ts';
import { newPasswordField, userNameField } from './account-fields.ts';
import { deletionBanner } from './deletion-pages.ts';

const MESSAGES = {
  name: defineMessage('Name updated.'),
  email: defineMessage('E-mail address changed. Your other sessions are signed out.'),
  kept: defineMessage('Your account will not be deleted.'),
  'email-cancelled': defineMessage('Change of the e-mail address cancelled.'),
  password: defineMessage('Password changed. Your other sessions are signed out.'),
  'mail-on': defineMessage('E-mail notifications saved.'),
  'mail-off': defineMessage('E-mail notifications are off.'),
  'vote-reminder-yes': defineMessage('You get a mail when you can vote again, at most once a day.'),
  'vote-reminder-no': defineMessage('You get no more mails about votes.'),
  session: defineMessage('Session signed out.'),
  unlinked: defineMessage('Link removed.'),
  'two-factor-off': defineMessage('Two-factor authentication is off.'),
};

type Account = {
  base: string;
  sendsMail: boolean;
  /** See `readMailReminder`. */
  mailReminder: boolean | null;
  sites: (OtherSite & { isLinked: boolean })[];
  hasPassword: boolean;
  signedIn: SignedIn;
  addressChange: AddressChange | null;
  deletion: AccountDeletion | null;
  sessions: WithId<SignInSession>[];
  now: Date;
  typed: Typed;
};

export function accountPage(account: Account): Page {
  const { base, sites } = account;
  const { user } = account.signedIn;
  return {
    title: t('Your account'),
    messages: MESSAGES,
    body: html`<h1>${t('Your account')}</h1>
      ${deletionBanner(base, account.deletion)}
      <div class="columns">
        ${card({ title: t('Profile'), body: namePart(account) })}
        ${card({ title: t('E-mail address'), body: addressPart(base, user, account.addressChange) })}
        ${card({ title: t('Password'), body: passwordPart(account) })}
        ${card({ title: t('Two-factor authentication'), body: twoFactorPart(account) })}
        ${card({ id: 'notifications', title: t('Notifications'), body: mailPart(account) })}
        ${sites.map((site) => card({ title: site.name, body: sitePart(account, site) }))}
      </div>
      ${card({
        title: t('Sessions'),
        actions: button({ to: `${base}/account/sessions/end-all`, text: t('Sign out everywhere') }),
        body: sessionTable(account),
      })}
      ${card({ title: t('Your data'), body: dataPart(account) })}`,
  };
}

function twoFactorPart({ base, signedIn: { user } }: Account): Html {
  const isOn = user.twoFactorEnabled;
  const use = t(
    'Sign in with a code from your phone in addition to your password. A stolen password alone is then not enough.',
  );
  return html`${facts([[t('Status'), isOn ? badge('good', t('on')) : badge('quiet', t('off'))]])}
    <p class="soft">${use}</p>
    <p><a class="button quiet" href="${base}/account/two-factor">${isOn ? t('Manage') : t('Set up')}</a></p>`;
}

function sitePart(
  { base, hasPassword, signedIn: { user } }: Account,
  { id, name, isLinked }: Account['sites'][number],
): Html {
  const unlink =
    isLinked && hasPassword
      ? button({ to: `${base}/account/sites/${id}/unlink`, text: t('Remove the link'), of: name })
      : '';
  if (requiresPassword(user)) {
    return html`<p>${t('This account requires its password: you cannot sign in with {name}.', { name })}</p>${unlink}`;
  }
  if (isLinked) {
    return html`<p>${badge('good', t('linked'))} ${t('You can sign in with {name}.', { name })}</p>${unlink}`;
  }
  const how = t('To link it, sign in once with an account at {name} that has the same e-mail address.', {
    name,
  });
  return html`<p>${badge('quiet', t('not linked'))} ${how}</p>`;
}

function namePart({ base, signedIn: { user }, typed }: Account): Html {
  return html`<form method="post" action="${base}/account/name" class="stack">
      ${userNameField(typed, user.name)}
      <button type="submit" class="quiet">${t('Save name')}</button>
    </form>`;
}

function passwordPart({ base, hasPassword, sendsMail, typed }: Account): Html {
  if (!hasPassword) {
    return sendsMail
      ? html`<p>${t('You have no password yet. <a>Request a link</a> to set one.', {
          a: linkTo(`${base}/forgot-password`),
        })}</p>`
      : html`<p>${t('You have no password. Ask the operator of this listing for a link to set one.')}</p>`;
  }
  return html`<form method="post" action="${base}/account/password" class="stack">
    ${fieldsOf(typed).secret('current', {
      label: t('Current password'),
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    })}
    ${newPasswordField(
      typed,
      t('New password'),
      t('At least {min} characters. Your other sessions will be signed out.', { min: PASSWORD_LENGTH.min }),
    )}
    <button type="submit" class="quiet">${t('Change password')}</button>
  </form>`;
}

function mailPart({ base, sendsMail, mailReminder, signedIn: { user } }: Account): Html {
  if (!sendsMail) {
    const instead = t('This listing sends no mail. Under “Events”, a server can send messages to Discord.');
    return html`<p class="soft">${instead}</p>`;
  }
  const others = t(
    'Mails about the security of your account, such as a new password, are always sent. Messages to Discord are under “Events” of each server.',
  );
  return html`<form method="post" action="${base}/account/mail" class="stack">
    <fieldset class="stack"><legend>${t('E-mail me about my servers')}</legend>
      ${kindBoxes((kind) => wantsMailOf(user, kind), 'mail')}
    </fieldset>
    <p class="soft small">${others}</p>
    <button type="submit" class="quiet">${t('Save')}</button>
  </form>
  ${mailReminder === null ? '' : reminderPart(base, mailReminder)}`;
}

function reminderPart(base: string, isOn: boolean): Html {
  return html`<h3>${t('Reminders of votes')}</h3>${mailReminderForm({ base }, isOn, { next: '' })}`;
}

function dataPart({ base, deletion }: Account): Html {
  const content = t(
    'The file has your account, sessions, servers, reviews, favourites and what the audit log says of your changes. It has no passwords, tokens or other secrets.',
  );
  return html`<ul class="plain links">
      <li><a href="${base}/favourites">${t('Your favourites')}</a></li>
      <li><a href="${base}/account/reviews">${t('Your reviews')}</a></li>
    </ul>
    <p class="soft">${content}</p>
    <div class="actions">
      ${button({ to: `${base}/account/export`, text: t('Download your data (JSON)') })}
      ${deletion ? '' : html`<a class="button quiet" href="${base}/account/delete">${t('Delete your account')}</a>`}
    </div>`;
}

function sessionTable({ base, signedIn, sessions, now }: Account): Html {
  return dataTable({
    caption: t('Sessions'),
    rows: sessions,
    columns: [
      { title: t('Browser'), heads: true, cell: ({ userAgent }) => agentName(userAgent ?? '') },
      { title: t('IP address'), cell: ({ ipAddress }) => ipAddress || t('unknown') },
      { title: t('Signed in'), cell: ({ createdAt }) => timeAgo(createdAt, now) },
      {
        title: t('Action'),
        cell: ({ _id, userAgent }) =>
          _id.equals(signedIn.session.id)
            ? badge('good', t('this session'))
            : button({
                to: `${base}/account/sessions/${_id.toHexString()}/end`,
                text: t('Sign out'),
                of: agentName(userAgent ?? ''),
              }),
      },
    ],
    empty: '',
  });
}

/** The first match counts, because most user agents also contain names of browsers that are further down here. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** `Firefox on Windows`, or `Firefox` if the system is unknown. */
export function agentName(userAgent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser && system) return t('{browser} on {system}', { browser, system });
  return browser ?? t('Unknown browser');
}

function addressPart(base: string, { email }: Pick<User, 'email'>, change: AddressChange | null): Html {
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
