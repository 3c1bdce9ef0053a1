import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { CONFIRM_DAYS } from '../../accounts/address/address-change.ts';
import { changeAddressFor, findAddressChange } from '../../accounts/address/change-address.ts';
import { createAuth } from '../../accounts/auth.ts';
import { inLanguageOfUser } from '../../accounts/mail-language.ts';
import { makePasswordLink } from '../../accounts/make-link.ts';
import { sendLink } from '../../accounts/send-link.ts';
import { sendEntryLink } from '../../accounts/sign-up.ts';
import type { User } from '../../accounts/user.ts';
import {
  confirmAddress,
  type Decider,
  liftSuspension,
  notePasswordLink,
  resetTwoFactor,
  setRole,
  suspendUser,
  UserError,
} from '../../accounts/users.ts';
import { inEnglish } from '../../language/t.ts';
import { showUser, type UserView } from '../../workflows/show-user.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { pageHead } from '../shared/deck.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { card, copyable, facts } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import { passwordLinkPart, type UserPage, userDecisions } from './user-decisions.ts';
import { accountStatus } from './users-page.ts';

const MESSAGES = inEnglish({
  suspended: 'User suspended and signed out of all sessions.',
  confirmed: 'Address confirmed. The user sees invitations to servers now.',
  lifted: 'Suspension lifted. The user can sign in again.',
  'two-factor': 'Two-factor authentication reset. The user is signed out of all sessions.',
  operator: 'The user is an operator now.',
  owner: 'The user is no longer an operator.',
  'email-requested': `We have mailed a link to the new address. The change happens when it is confirmed there, within ${CONFIRM_DAYS} days.`,
  'email-changed': 'Address changed. The user is signed out of all sessions.',
  'link-sent': 'We have e-mailed a link to set a password.',
});

const reasonsForm = z.object({ reason: fieldText, reasonForOwner: z.string().optional() });
const emailForm = z.object({ email: fieldText, emailReason: fieldText });

export function userPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const users = adminPath(base, '/users');
  const sendsMail = () => deps.config.SMTP_URL !== undefined;

  const find = async (request: FastifyRequest): Promise<UserView> => {
    const view = await showUser(deps, idParam(request, 'userId'));
    if (!view) throw new PageError(404, 'This user does not exist.');
    return view;
  };
  const show = async (request: FastifyRequest, typed: Typed): Promise<Page> => {
    const view = await find(request);
    const change = await findAddressChange(deps, view.user._id);
    return userPage({
      users,
      base,
      view,
      change,
      sendsMail: sendsMail(),
      isSelf: userOf(request)._id.equals(view.user._id),
      typed,
    });
  };
  const pathOf = ({ user }: UserView, done: keyof typeof MESSAGES) =>
    `${users}/${user._id.toHexString()}?done=${done}`;
  const refusalOf = (error: unknown) =>
    error instanceof UserError ? refused(400, error.message) : undefined;

  app.get('/users/:userId', OPERATOR, async (request, reply) =>
    sendPage(request, reply, await show(request, UNTOUCHED)),
  );

  const decision = (
    name: string,
    done: keyof typeof MESSAGES,
    decide: (userId: ObjectId, who: Decider, reasons: z.output<typeof reasonsForm>) => Promise<void>,
  ) =>
    formRoute(app, {
      path: `/users/:userId/${name}`,
      access: OPERATOR,
      schema: reasonsForm,
      show,
      refusalOf,
      run: async ({ request, data }) => {
        const view = await find(request);
        await decide(view.user._id, deciderOf(request), data);
        return pathOf(view, done);
      },
    });

  decision('suspend', 'suspended', (id, who, reasons) => suspendUser(deps, id, reasons, who));
  decision('confirm-address', 'confirmed', (id, who) => confirmAddress(deps, id, who));
  decision('lift', 'lifted', (id, who) => liftSuspension(deps, id, who));
  decision('reset-two-factor', 'two-factor', (id, who) => resetTwoFactor(deps, id, who));
  decision('make-operator', 'operator', (id, who) => setRole(deps, id, 'operator', who));
  decision('unmake-operator', 'owner', (id, who) => setRole(deps, id, 'owner', who));

  formRoute(app, {
    path: '/users/:userId/email',
    access: OPERATOR,
    schema: emailForm,
    fields: { reason: 'emailReason' },
    show,
    refusalOf,
    run: async ({ request, data: { email, emailReason: reason } }) => {
      const view = await find(request);
      const result = await changeAddressFor(deps, view.user._id, { email, reason }, deciderOf(request));
      return pathOf(view, `email-${result}`);
    },
  });

  formRoute(app, {
    path: '/users/:userId/link',
    access: OPERATOR,
    run: async ({ request }) => {
      const view = await find(request);
      const { user } = view;
      await notePasswordLink(deps, user, deciderOf(request));
      if (!sendsMail()) return { page: linkPage(users, user, await makePasswordLink(deps, user)) };
      const auth = createAuth(deps, (link) => sendLink(deps, link));
      await inLanguageOfUser(deps.config, user, () => sendEntryLink(deps, auth, user.email));
      return pathOf(view, 'link-sent');
    },
  });
}

function deciderOf(request: FastifyRequest): Decider {
  const { _id, email } = userOf(request);
  return { userId: _id, by: email };
}

function linkPage(users: string, user: WithId<User>, link: string): Page {
  return {
    title: 'One-time link',
    body: html`<h1>One-time link</h1>
      <section class="card stack">
        <p>
          Send this link to ${user.email} over a private channel. Anyone who opens it can set the account’s password. It
          works once, expires in one hour, and is shown only once.
        </p>
        ${copyable(link, 'One-time link')}
        <a class="button quiet" href="${users}/${user._id.toHexString()}">Back to the user</a>
      </section>`,
  };
}

function userPage(page: UserPage): Page {
  const { user } = page.view;
  return adminPage({
    base: page.base,
    part: '/users',
    title: user.email,
    messages: MESSAGES,
    head: pageHead({ title: user.email, actions: accountStatus(user) }),
    body: html`<div class="columns">
        ${card({ title: 'User', body: userFacts(page) })}
        ${card({ title: 'Servers', body: serverList(page) })}
        ${card({ title: 'Password', body: passwordLinkPart(page) })}
        ${page.isSelf ? ownCard(page) : userDecisions(page)}
      </div>`,
  });
}

function ownCard({ base }: UserPage): Html {
  return card({
    title: 'You',
    body: html`<p>
      This is your account. Change your password and two-factor authentication in
      <a href="${base}/account">your account</a>. Only another operator can change your role or suspend you.
    </p>`,
  });
}

const WAYS: Record<string, string> = { credential: 'password', discord: 'Discord', oidc: 'OpenID Connect' };

function userFacts({ view: { user, sessions, credentials } }: UserPage): Html {
  const ways = [...new Set(credentials.map(({ providerId }) => WAYS[providerId] ?? providerId))].join(', ');
  return facts([
    ['Name', html`<bdi>${user.name}</bdi>`],
    ['E-mail address', user.emailVerified ? 'confirmed' : 'not confirmed'],
    ['Signs in with', ways || 'no method yet'],
    ['Two-factor authentication', user.twoFactorEnabled ? 'on' : 'off'],
    ['Active sessions', count(sessions)],
    ['Created', time(user.createdAt)],
    ['Suspended', user.suspendedAt ? time(user.suspendedAt) : undefined],
    ['Reason for the user', user.suspendedAt ? user.suspensionReason : undefined],
    ['Internal reason', user.suspendedAt ? user.suspendedFor : undefined],
  ]);
}

function serverList({ base, view: { servers } }: UserPage): Content {
  if (servers.length === 0) return html`<p class="soft">No servers.</p>`;
  return html`<ul class="plain">
    ${servers.map(
      ({ _id, name }) =>
        html`<li><a href="${base}/dashboard/servers/${_id.toHexString()}"><bdi>${name}</bdi></a></li>`,
    )}
  </ul>`;
}
