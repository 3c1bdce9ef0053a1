import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { ObjectId, type WithId } from 'mongodb';
import { mailAccountChange } from '../../accounts/account-changes.ts';
import { createAuth } from '../../accounts/auth.ts';
import { makePasswordLink } from '../../accounts/make-link.ts';
import {
  type Decider,
  liftSuspension,
  noteLink,
  PersonError,
  resetTwoFactor,
  setRole,
  suspendPerson,
} from '../../accounts/people.ts';
import type { Person } from '../../accounts/person.ts';
import { sendLink } from '../../accounts/send-link.ts';
import { sendEntryLink } from '../../accounts/sign-up.ts';
import { type PersonView, showPerson } from '../../listing/find-people.ts';
import { personOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { faultsOf, type Typed, typedValues, UNTOUCHED, withFault } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { OPERATOR } from '../page-route.ts';
import { button, card, confirmed, copyable, facts, notice, textArea } from '../parts.ts';
import { count, time } from '../words.ts';
import { deskFrame, deskPath } from './desk-frame.ts';
import type { DeskSources } from './desk-sources.ts';
import { standing } from './people.ts';

const SAYS = {
  suspended: 'This person is suspended and signed out everywhere.',
  lifted: 'This person may sign in again.',
  'two-factor': 'The second factor is gone, and this person is signed out everywhere.',
  operator: 'This person is an operator now.',
  owner: 'This person is no operator any more.',
  'link-sent': 'A link to set a password is on its way by mail.',
};

/** `/operator/people/:personId`: one person, and what an operator decides about them. */
export function personPages(app: FastifyInstance, { platform }: DeskSources): void {
  const { base } = app.site;
  const people = deskPath(base, '/people');
  const sendsMail = platform.config.SMTP_URL !== undefined;

  const find = async (request: FastifyRequest): Promise<PersonView> => {
    const { personId } = request.params as { personId: string };
    const view = /^[0-9a-f]{24}$/.test(personId) && (await showPerson(platform, new ObjectId(personId)));
    if (!view) throw new PageError(404, 'There is no such person.');
    return view;
  };
  const show = (request: FastifyRequest, view: PersonView, typed = UNTOUCHED) =>
    personPage({ people, base, view, sendsMail, isSelf: isSelf(request, view), typed });

  app.get('/people/:personId', OPERATOR, async (request, reply) =>
    sendPage(request, reply, show(request, await find(request))),
  );

  /** A button of the page: what it does, and what is said afterwards. */
  const decision = (
    name: string,
    done: keyof typeof SAYS,
    decide: (personId: ObjectId, who: Decider, values: Record<string, string>) => Promise<void>,
  ) =>
    app.post(`/people/:personId/${name}`, OPERATOR, async (request, reply) => {
      const view = await find(request);
      const values = typedValues(request);
      try {
        await decide(view.person._id, deciderOf(request), values);
      } catch (error) {
        const typed =
          error instanceof PersonError
            ? withFault(UNTOUCHED, error.message)
            : faultsOf(error, { reason: '', ...values });
        return sendPage(request, reply, show(request, view, typed), 400);
      }
      return reply.redirect(`${people}/${view.person._id.toHexString()}?done=${done}`, 303);
    });

  decision('suspend', 'suspended', (id, who, { reason = '' }) =>
    suspendPerson(platform, id, { reason }, who),
  );
  decision('lift', 'lifted', (id, who) => liftSuspension(platform, id, who));
  decision('reset-two-factor', 'two-factor', async (id, who) => {
    await resetTwoFactor(platform, id, who);
    const person = await platform.people.findOne({ _id: id });
    if (person) await mailAccountChange(platform, person, 'two-factor-reset');
  });
  decision('make-operator', 'operator', (id, who) => setRole(platform, id, 'operator', who));
  decision('unmake-operator', 'owner', (id, who) => setRole(platform, id, 'owner', who));

  app.post('/people/:personId/link', OPERATOR, async (request, reply) => {
    const { person } = await find(request);
    await noteLink(platform, person, deciderOf(request));
    if (sendsMail) {
      const auth = createAuth(platform, (link) => sendLink(platform, link));
      await sendEntryLink(platform, auth, person.email);
      return reply.redirect(`${people}/${person._id.toHexString()}?done=link-sent`, 303);
    }
    return sendPage(request, reply, linkPage(people, person, await makePasswordLink(platform, person)));
  });
}

function deciderOf(request: FastifyRequest): Decider {
  const { _id, email } = personOf(request);
  return { personId: _id, by: email };
}

function isSelf(request: FastifyRequest, { person }: PersonView): boolean {
  return personOf(request)._id.equals(person._id);
}

function linkPage(people: string, person: WithId<Person>, link: string): Page {
  return {
    title: 'One-time link',
    body: html`<h1>One-time link</h1>
      <section class="card stack">
        <p>Give this to ${person.email} in a way that nobody else can read: whoever opens it sets the password of the account. It works once, within an hour, and is shown only now.</p>
        ${copyable(link, 'One-time link')}
        <a class="button quiet" href="${people}/${person._id.toHexString()}">Back to the person</a>
      </section>`,
  };
}

type PersonPage = {
  people: string;
  base: string;
  view: PersonView;
  sendsMail: boolean;
  isSelf: boolean;
  typed: Typed;
};

function personPage(page: PersonPage): Page {
  const { view, typed } = page;
  const { person } = view;
  return {
    title: person.email,
    says: SAYS,
    body: deskFrame({
      base: page.base,
      part: '/people',
      head: html`<div class="page-head">
        <h1>${person.email}</h1>
        ${standing(person)}
      </div>`,
      body: html`${typed.faults.form ? notice('bad', typed.faults.form) : ''}
      <div class="columns">
        ${card({ title: 'Person', body: personFacts(page) })}
        ${card({ title: 'Servers', body: serverList(page) })}
        ${card({ title: 'Password', body: linkPart(page) })}
        ${page.isSelf ? card({ title: 'You', body: html`<p>This is you. Your password and second factor stand in <a href="${page.base}/account">your account</a>; the rest another operator has to do.</p>` }) : decisions(page)}
      </div>`,
    }),
  };
}

function personFacts({ view: { person, sessions, hasPassword, hasDiscord } }: PersonPage): Html {
  const ways = [hasPassword && 'password', hasDiscord && 'Discord'].filter(Boolean).join(', ');
  return facts([
    ['Name', html`<bdi>${person.name}</bdi>`],
    ['Address', person.emailVerified ? 'confirmed' : 'not confirmed'],
    ['Signs in with', ways || 'nothing yet'],
    ['Second factor', person.twoFactorEnabled ? 'on' : 'off'],
    [
      'Signed in',
      sessions === 0 ? 'nowhere' : `in ${count(sessions)} ${sessions === 1 ? 'place' : 'places'}`,
    ],
    ['Since', time(person.createdAt)],
    ['Suspended', person.suspendedAt ? time(person.suspendedAt) : undefined],
    ['Reason', person.suspendedAt ? person.suspendedFor : undefined],
  ]);
}

function serverList({ base, view: { servers } }: PersonPage): Content {
  if (servers.length === 0) return html`<p class="soft">None.</p>`;
  return html`<ul class="plain">
    ${servers.map(
      ({ _id, name }) =>
        html`<li><a href="${base}/dashboard/servers/${_id.toHexString()}"><bdi>${name}</bdi></a></li>`,
    )}
  </ul>`;
}

function linkPart({ people, view: { person }, sendsMail }: PersonPage): Html {
  const to = `${people}/${person._id.toHexString()}/link`;
  return html`<p>${
    sendsMail
      ? 'A link by which this person sets a new password is sent to their address.'
      : 'A link by which this person sets a new password is shown to you, once, to be handed on.'
  }</p>
  ${button({ to, text: sendsMail ? 'Send a link to set a password' : 'Make a one-time link to set a password' })}`;
}

function decisions({ people, view: { person }, typed }: PersonPage): Html {
  const to = (name: string) => `${people}/${person._id.toHexString()}/${name}`;
  return html`${card({
    title: 'Suspension',
    body: person.suspendedAt
      ? button({ to: to('lift'), text: 'Lift the suspension' })
      : html`<p>Ends every session at once. The servers stay listed, and their votes are delivered.</p>
        <form method="post" action="${to('suspend')}" class="stack">
          ${textArea({ name: 'reason', label: 'Reason', hint: 'For operators; it stands in the audit log.', rows: 2, maxlength: 500, required: true, value: typed.values.reason ?? '', fault: typed.faults.reason })}
          <button type="submit" class="danger">Suspend</button>
        </form>`,
  })}
  ${card({
    title: 'Second factor',
    body: person.twoFactorEnabled
      ? confirmed({
          text: 'Reset the second factor',
          consequence:
            'The account opens with its password alone until a new factor is set up. Be sure that it is the person who asks for it.',
          form: button({ to: to('reset-two-factor'), text: 'Reset it', kind: 'danger' }),
        })
      : html`<p class="soft">It is off.</p>`,
  })}
  ${card({
    title: 'Role',
    body:
      person.role === 'operator'
        ? confirmed({
            text: 'Make an owner again',
            consequence:
              'The desk is closed to this person with their next click. Their servers stay theirs.',
            form: button({ to: to('unmake-operator'), text: 'Take the role away', kind: 'danger' }),
          })
        : confirmed({
            text: 'Make an operator',
            consequence: 'An operator sees and decides everything here, about other operators too.',
            form: button({ to: to('make-operator'), text: 'Make this person an operator', kind: 'danger' }),
          }),
  })}`;
}
