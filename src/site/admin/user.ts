import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { ObjectId, type WithId } from 'mongodb';
import { createAuth } from '../../accounts/auth.ts';
import { makePasswordLink } from '../../accounts/make-link.ts';
import { sendLink } from '../../accounts/send-link.ts';
import { sendEntryLink } from '../../accounts/sign-up.ts';
import type { User } from '../../accounts/user.ts';
import {
  type Decider,
  liftSuspension,
  noteLink,
  resetTwoFactor,
  setRole,
  suspendUser,
  UserError,
} from '../../accounts/users.ts';
import { showUser, type UserView } from '../../listing/find-users.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { errorsOf, type Typed, typedValues, UNTOUCHED, withError } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { OPERATOR } from '../page-route.ts';
import { button, card, confirmed, copyable, facts, notice, textArea } from '../parts.ts';
import { count, time } from '../words.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminSources } from './admin-sources.ts';
import { accountStatus } from './users.ts';

const SAYS = {
  suspended: 'This user is suspended and signed out everywhere.',
  lifted: 'This user may sign in again.',
  'two-factor': 'The second factor is gone, and this user is signed out everywhere.',
  operator: 'This user is an operator now.',
  owner: 'This user is no operator any more.',
  'link-sent': 'A link to set a password is on its way by mail.',
};

/** `/operator/users/:userId`: one user, and what an operator decides about them. */
export function userPages(app: FastifyInstance, { platform }: AdminSources): void {
  const { base } = app.site;
  const users = adminPath(base, '/users');
  const sendsMail = platform.config.SMTP_URL !== undefined;

  const find = async (request: FastifyRequest): Promise<UserView> => {
    const { userId } = request.params as { userId: string };
    const view = /^[0-9a-f]{24}$/.test(userId) && (await showUser(platform, new ObjectId(userId)));
    if (!view) throw new PageError(404, 'There is no such user.');
    return view;
  };
  const show = (request: FastifyRequest, view: UserView, typed = UNTOUCHED) =>
    userPage({ users, base, view, sendsMail, isSelf: isSelf(request, view), typed });

  app.get('/users/:userId', OPERATOR, async (request, reply) =>
    sendPage(request, reply, show(request, await find(request))),
  );

  /** A button of the page: what it does, and what is said afterwards. */
  const decision = (
    name: string,
    done: keyof typeof SAYS,
    decide: (userId: ObjectId, who: Decider, values: Record<string, string>) => Promise<void>,
  ) =>
    app.post(`/users/:userId/${name}`, OPERATOR, async (request, reply) => {
      const view = await find(request);
      const values = typedValues(request);
      try {
        await decide(view.user._id, deciderOf(request), values);
      } catch (error) {
        const typed =
          error instanceof UserError
            ? withError(UNTOUCHED, error.message)
            : errorsOf(error, { reason: '', ...values });
        return sendPage(request, reply, show(request, view, typed), 400);
      }
      return reply.redirect(`${users}/${view.user._id.toHexString()}?done=${done}`, 303);
    });

  decision('suspend', 'suspended', (id, who, { reason = '' }) => suspendUser(platform, id, { reason }, who));
  decision('lift', 'lifted', (id, who) => liftSuspension(platform, id, who));
  decision('reset-two-factor', 'two-factor', (id, who) => resetTwoFactor(platform, id, who));
  decision('make-operator', 'operator', (id, who) => setRole(platform, id, 'operator', who));
  decision('unmake-operator', 'owner', (id, who) => setRole(platform, id, 'owner', who));

  app.post('/users/:userId/link', OPERATOR, async (request, reply) => {
    const { user } = await find(request);
    await noteLink(platform, user, deciderOf(request));
    if (sendsMail) {
      const auth = createAuth(platform, (link) => sendLink(platform, link));
      await sendEntryLink(platform, auth, user.email);
      return reply.redirect(`${users}/${user._id.toHexString()}?done=link-sent`, 303);
    }
    return sendPage(request, reply, linkPage(users, user, await makePasswordLink(platform, user)));
  });
}

function deciderOf(request: FastifyRequest): Decider {
  const { _id, email } = userOf(request);
  return { userId: _id, by: email };
}

function isSelf(request: FastifyRequest, { user }: UserView): boolean {
  return userOf(request)._id.equals(user._id);
}

function linkPage(users: string, user: WithId<User>, link: string): Page {
  return {
    title: 'One-time link',
    body: html`<h1>One-time link</h1>
      <section class="card stack">
        <p>Give this to ${user.email} in a way that nobody else can read: whoever opens it sets the password of the account. It works once, within an hour, and is shown only now.</p>
        ${copyable(link, 'One-time link')}
        <a class="button quiet" href="${users}/${user._id.toHexString()}">Back to the user</a>
      </section>`,
  };
}

type UserPage = {
  users: string;
  base: string;
  view: UserView;
  sendsMail: boolean;
  isSelf: boolean;
  typed: Typed;
};

function userPage(page: UserPage): Page {
  const { view, typed } = page;
  const { user } = view;
  return {
    title: user.email,
    says: SAYS,
    body: adminFrame({
      base: page.base,
      part: '/users',
      head: html`<div class="page-head">
        <h1>${user.email}</h1>
        ${accountStatus(user)}
      </div>`,
      body: html`${typed.errors.form ? notice('bad', typed.errors.form) : ''}
      <div class="columns">
        ${card({ title: 'User', body: userFacts(page) })}
        ${card({ title: 'Servers', body: serverList(page) })}
        ${card({ title: 'Password', body: linkPart(page) })}
        ${page.isSelf ? card({ title: 'You', body: html`<p>This is you. Your password and second factor stand in <a href="${page.base}/account">your account</a>; the rest another operator has to do.</p>` }) : decisions(page)}
      </div>`,
    }),
  };
}

function userFacts({ view: { user, sessions, hasPassword, hasDiscord } }: UserPage): Html {
  const ways = [hasPassword && 'password', hasDiscord && 'Discord'].filter(Boolean).join(', ');
  return facts([
    ['Name', html`<bdi>${user.name}</bdi>`],
    ['Address', user.emailVerified ? 'confirmed' : 'not confirmed'],
    ['Signs in with', ways || 'nothing yet'],
    ['Second factor', user.twoFactorEnabled ? 'on' : 'off'],
    [
      'Signed in',
      sessions === 0 ? 'nowhere' : `in ${count(sessions)} ${sessions === 1 ? 'place' : 'places'}`,
    ],
    ['Since', time(user.createdAt)],
    ['Suspended', user.suspendedAt ? time(user.suspendedAt) : undefined],
    ['Reason', user.suspendedAt ? user.suspendedFor : undefined],
  ]);
}

function serverList({ base, view: { servers } }: UserPage): Content {
  if (servers.length === 0) return html`<p class="soft">None.</p>`;
  return html`<ul class="plain">
    ${servers.map(
      ({ _id, name }) =>
        html`<li><a href="${base}/dashboard/servers/${_id.toHexString()}"><bdi>${name}</bdi></a></li>`,
    )}
  </ul>`;
}

function linkPart({ users, view: { user }, sendsMail }: UserPage): Html {
  const to = `${users}/${user._id.toHexString()}/link`;
  return html`<p>${
    sendsMail
      ? 'A link by which this user sets a new password is sent to their address.'
      : 'A link by which this user sets a new password is shown to you, once, to be handed on.'
  }</p>
  ${button({ to, text: sendsMail ? 'Send a link to set a password' : 'Make a one-time link to set a password' })}`;
}

function decisions({ users, view: { user }, typed }: UserPage): Html {
  const to = (name: string) => `${users}/${user._id.toHexString()}/${name}`;
  return html`${card({
    title: 'Suspension',
    body: user.suspendedAt
      ? button({ to: to('lift'), text: 'Lift the suspension' })
      : html`<p>Ends every session at once. The servers stay listed, and their votes are delivered.</p>
        <form method="post" action="${to('suspend')}" class="stack">
          ${textArea({ name: 'reason', label: 'Reason', hint: 'For operators; it stands in the audit log.', rows: 2, maxlength: 500, required: true, value: typed.values.reason ?? '', error: typed.errors.reason })}
          <button type="submit" class="danger">Suspend</button>
        </form>`,
  })}
  ${card({
    title: 'Second factor',
    body: user.twoFactorEnabled
      ? confirmed({
          text: 'Reset the second factor',
          consequence:
            'The account opens with its password alone until a new factor is set up. Be sure that it is the user who asks for it.',
          form: button({ to: to('reset-two-factor'), text: 'Reset it', kind: 'danger' }),
        })
      : html`<p class="soft">It is off.</p>`,
  })}
  ${card({
    title: 'Role',
    body:
      user.role === 'operator'
        ? confirmed({
            text: 'Make an owner again',
            consequence:
              'The admin area is closed to this user with their next click. Their servers stay theirs.',
            form: button({ to: to('unmake-operator'), text: 'Take the role away', kind: 'danger' }),
          })
        : confirmed({
            text: 'Make an operator',
            consequence: 'An operator sees and decides everything here, about other operators too.',
            form: button({ to: to('make-operator'), text: 'Make this user an operator', kind: 'danger' }),
          }),
  })}`;
}
