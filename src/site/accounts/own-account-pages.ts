import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import type { AddressChange } from '../../accounts/address/address-change.ts';
import { findAddressChange } from '../../accounts/address/change-address.ts';
import { PASSWORD_LENGTH, requiresPassword } from '../../accounts/auth.ts';
import type { AccountDeletion } from '../../accounts/deletion/account-deletion.ts';
import { findDeletion } from '../../accounts/deletion/request-deletion.ts';
import { linkedSites, type OtherSite, otherSites } from '../../accounts/other-sites/other-sites.ts';
import { unlinkSite } from '../../accounts/other-sites/unlink-site.ts';
import {
  changeOwnAccount,
  endSession,
  finishPasswordChange,
  listSessions,
} from '../../accounts/own-account.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import type { SignedIn } from '../../accounts/sessions.ts';
import { countReAuthentication } from '../../accounts/sign-in-limits.ts';
import type { SignInSession } from '../../accounts/user.ts';
import { endSessions } from '../../accounts/users.ts';
import { defineMessage, t } from '../../language/t.ts';
import { mailSetting, wantsMailOf } from '../../notifications/kinds.ts';
import { shownText } from '../../platform/text.ts';
import { showUser } from '../../workflows/find-users.ts';
import { signInHeaders, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { SIGNED_IN } from '../page-route.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { chosenKinds, kindBoxes, kindsForm } from '../shared/kind-boxes.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, button, card, dataTable, facts, textField } from '../shared/parts.ts';
import type { AccountParts } from './account-parts.ts';
import { addressPart } from './address-views.ts';
import { agentName } from './agent-name.ts';
import { giveCookies, hashingClientOf, refusalCode } from './better-auth-calls.ts';
import { deletionBanner } from './deletion-views.ts';
import { newPassword, refuseOwn } from './sign-up-pages.ts';

const nameForm = z.object({ name: shownText(60) });
const passwordForm = z.object({
  current: z
    .string()
    .min(1, { error: () => t('Enter your current password.') })
    .max(256, { error: () => t('The password is too long.') }),
  password: newPassword,
});

const MESSAGES = {
  name: defineMessage('Name updated.'),
  email: defineMessage('E-mail address changed. Your other sessions are signed out.'),
  kept: defineMessage('Your account will not be deleted.'),
  'email-cancelled': defineMessage('Change of the e-mail address cancelled.'),
  password: defineMessage('Password changed. Your other sessions are signed out.'),
  'mail-on': defineMessage('E-mail notifications saved.'),
  'mail-off': defineMessage('E-mail notifications are off.'),
  session: defineMessage('Session signed out.'),
  unlinked: defineMessage('Link removed.'),
  'two-factor-off': defineMessage('Two-factor authentication is off.'),
};

/** `/account`: the user's own settings. */
export function ownAccountPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const sites = otherSites(deps.config);

  const show = async (request: Parameters<typeof userOf>[0], typed = UNTOUCHED): Promise<Page> => {
    const { signedIn } = request;
    const view = signedIn && (await showUser(deps, signedIn.user._id));
    if (!signedIn || !view) throw new PageError(404, t('This account no longer exists.'));
    const linked = linkedSites(deps.config, view.credentials);
    return accountPage({
      base,
      sendsMail: deps.config.SMTP_URL !== undefined,
      sites: sites.map((site) => ({ ...site, isLinked: linked.has(site.id) })),
      hasPassword: view.hasPassword,
      signedIn: { ...signedIn, user: view.user },
      deletion: await findDeletion(deps, view.user._id),
      addressChange: await findAddressChange(deps, view.user._id),
      sessions: await listSessions(deps, view.user._id, MAX_SESSIONS),
      now: deps.clock.now(),
      typed,
    });
  };

  app.get('/account', SIGNED_IN, async (request, reply) => sendPage(request, reply, await show(request)));

  formRoute(app, {
    path: '/account/name',
    access: SIGNED_IN,
    schema: nameForm,
    show,
    run: async ({ request, data }) => {
      await changeOwnAccount(deps, userOf(request)._id, { name: data.name });
      return `${base}/account?done=name`;
    },
  });

  formRoute(app, {
    path: '/account/mail',
    access: SIGNED_IN,
    schema: kindsForm,
    run: async ({ request, values }) => {
      const setting = mailSetting(chosenKinds(values));
      await changeOwnAccount(deps, userOf(request)._id, setting);
      return `${base}/account?done=mail-${setting.wantsMail ? 'on' : 'off'}#notifications`;
    },
  });

  formRoute(app, {
    path: '/account/password',
    access: SIGNED_IN,
    schema: passwordForm,
    secrets: ['current', 'password'],
    show,
    run: async ({ request, reply, data }) => {
      const user = userOf(request);
      const userId = user._id.toHexString();
      const own = refuseOwn(data.password, user);
      if (own) return own;
      const retryAt = await countReAuthentication(deps, user._id);
      if (retryAt) return refused(429, t('Too many attempts. Wait a few minutes.'), retryAt);
      try {
        const { headers } = await hashingFor(hashingClientOf(request, user.email), () =>
          auth.api.changePassword({
            body: { currentPassword: data.current, newPassword: data.password, revokeOtherSessions: true },
            headers: signInHeaders(request),
            returnHeaders: true,
          }),
        );
        giveCookies(reply, headers);
      } catch (error) {
        const code = refusalCode(error);
        request.log.warn({ event: 'account.password_refused', userId, code });
        return { errors: { current: t('The current password is wrong.') } };
      }
      request.log.info({ event: 'account.password_changed', userId });
      await finishPasswordChange(deps, user);
      return `${base}/account?done=password`;
    },
  });

  formRoute(app, {
    path: '/account/sites/:siteId/unlink',
    access: SIGNED_IN,
    run: async ({ request }) => {
      const { siteId } = request.params as { siteId: string };
      const site = sites.find(({ id }) => id === siteId);
      if (!site) return refused(404, t('This page does not exist.'));
      const user = userOf(request);
      if (!(await unlinkSite(deps, user, site))) return refused(409, t('Set a password first.'));
      request.log.info({ event: 'account.site_unlinked', userId: user._id.toHexString(), provider: site.id });
      return `${base}/account?done=unlinked`;
    },
  });

  formRoute(app, {
    path: '/account/sessions/end-all',
    access: SIGNED_IN,
    run: async ({ request, reply }) => {
      await endSessions(deps, userOf(request)._id);
      const { headers } = await auth.api.signOut({ headers: signInHeaders(request), returnHeaders: true });
      giveCookies(reply, headers);
      return `${base}/sign-in?done=signed-out-everywhere`;
    },
  });

  formRoute(app, {
    path: '/account/sessions/:sessionId/end',
    access: SIGNED_IN,
    run: async ({ request }) => {
      await endSession(deps, userOf(request)._id, idParam(request, 'sessionId'));
      return `${base}/account?done=session`;
    },
  });
}

/** The number of sessions shown; signing out everywhere ends the others too. */
const MAX_SESSIONS = 50;

type Account = {
  base: string;
  sendsMail: boolean;
  /** The other sites that users sign in with. */
  sites: (OtherSite & { isLinked: boolean })[];
  hasPassword: boolean;
  signedIn: SignedIn;
  /** A change of the address that waits for confirmations. */
  addressChange: AddressChange | null;
  /** The requested deletion of the account. */
  deletion: AccountDeletion | null;
  sessions: WithId<SignInSession>[];
  now: Date;
  typed: Typed;
};

function accountPage(account: Account): Page {
  const { base, sendsMail, sites } = account;
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
        ${card({
          title: t('Two-factor authentication'),
          body: html`${facts([
            [t('Status'), user.twoFactorEnabled ? badge('good', t('on')) : badge('quiet', t('off'))],
          ])}
            <p class="soft">${t('Sign in with a code from your phone in addition to your password. A stolen password alone is then not enough.')}</p>
            <p><a class="button quiet" href="${base}/account/two-factor">${user.twoFactorEnabled ? t('Manage') : t('Set up')}</a></p>`,
        })}
        ${card({ id: 'notifications', title: t('Notifications'), body: sendsMail ? mailPart(account) : html`<p class="soft">${t('This listing sends no mail. A server’s settings can send messages to Discord.')}</p>` })}
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

function sitePart(
  { base, hasPassword, signedIn: { user } }: Account,
  { id, name, isLinked }: Account['sites'][number],
): Html {
  const unlink = html`${
    isLinked && hasPassword
      ? button({ to: `${base}/account/sites/${id}/unlink`, text: t('Remove the link'), of: name })
      : ''
  }`;
  if (requiresPassword(user)) {
    return html`<p>${t('This account requires its password: you cannot sign in with {name}.', { name })}</p>${unlink}`;
  }
  return isLinked
    ? html`<p>${badge('good', t('linked'))} ${t('You can sign in with {name}.', { name })}</p>${unlink}`
    : html`<p>${badge('quiet', t('not linked'))} ${t('To link it, sign in once with an account at {name} that has the same e-mail address.', { name })}</p>`;
}

function namePart({ base, signedIn: { user }, typed: { values, errors } }: Account): Html {
  return html`<form method="post" action="${base}/account/name" class="stack">
      ${textField({ name: 'name', label: t('Your name'), autocomplete: 'name', required: true, maxlength: 60, value: values.name ?? user.name, error: errors.name, hint: t('Shown with your answers to reviews.') })}
      <button type="submit" class="quiet">${t('Save name')}</button>
    </form>`;
}

function passwordPart({ base, hasPassword, sendsMail, typed: { errors } }: Account): Html {
  if (!hasPassword) {
    return sendsMail
      ? html`<p>${t('You have no password yet. <a>Request a link</a> to set one.', { a: (text) => html`<a href="${base}/forgot-password">${text}</a>` })}</p>`
      : html`<p>${t('You have no password. Ask the operator of this listing for a link to set one.')}</p>`;
  }
  return html`<form method="post" action="${base}/account/password" class="stack">
    ${textField({ name: 'current', label: t('Current password'), type: 'password', autocomplete: 'current-password', required: true, error: errors.current })}
    ${textField({ name: 'password', label: t('New password'), type: 'password', autocomplete: 'new-password', required: true, minlength: PASSWORD_LENGTH.min, maxlength: PASSWORD_LENGTH.max, error: errors.password, hint: t('At least {min} characters. Your other sessions will be signed out.', { min: PASSWORD_LENGTH.min }) })}
    <button type="submit" class="quiet">${t('Change password')}</button>
  </form>`;
}

function mailPart({ base, signedIn: { user } }: Account): Html {
  return html`<form method="post" action="${base}/account/mail" class="stack">
    <fieldset class="stack"><legend>${t('E-mail me about my servers')}</legend>
      ${kindBoxes((kind) => wantsMailOf(user, kind), 'mail')}
    </fieldset>
    <p class="soft small">${t('Mails about the security of your account, such as a new password, are always sent. Messages to Discord are in the settings of each server.')}</p>
    <button type="submit" class="quiet">${t('Save')}</button>
  </form>`;
}

function dataPart({ base, deletion }: Account): Html {
  return html`<ul class="plain links">
      <li><a href="${base}/favourites">${t('Your favourites')}</a></li>
      <li><a href="${base}/account/reviews">${t('Your reviews')}</a></li>
    </ul>
    <p class="soft">${t('The file has your account, sessions, servers, reviews, favourites and what the audit log says of your changes. It has no passwords, tokens or other secrets.')}</p>
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
      {
        title: t('Browser'),
        heads: true,
        cell: ({ userAgent }) => agentName(userAgent ?? ''),
      },
      { title: t('IP address'), cell: ({ ipAddress }) => ipAddress || 'unknown' },
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
