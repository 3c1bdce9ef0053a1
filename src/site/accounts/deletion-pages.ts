import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AccountDeletion } from '../../accounts/deletion/account-deletion.ts';
import {
  cancelDeletion,
  DELETION_DELAY_DAYS,
  deletionOfLink,
  findDeletion,
  requestDeletion,
} from '../../accounts/deletion/request-deletion.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { UserError } from '../../accounts/users.ts';
import { t } from '../../language/t.ts';
import { MAIL_TTL_MS } from '../../mail/mail.ts';
import { DAY } from '../../platform/clock.ts';
import { countReviewsOf } from '../../reviews/own-review.ts';
import { showUser, type UserView } from '../../workflows/show-user.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { counted, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { button, card, facts, linkTo, notice } from '../shared/parts.ts';
import {
  noPasswordYet,
  proofForm,
  reAuthenticationFields,
  SECRET_FIELDS,
  withReAuthentication,
} from '../shared/re-authentication.ts';
import type { AccountParts } from './account-parts.ts';

/** A value that cannot be a token becomes empty: the answer is then the same as for an invalid link. */
const tokenForm = z.object({ token: z.string().max(MAX_TOKEN_LENGTH).catch('') });

/** `/account/delete` requests the deletion of an account. `/keep-account`, to which a mailed link leads, cancels it. */
export function deletionPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = () => deps.config.SMTP_URL !== undefined;

  const show = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const { _id, emailVerified } = userOf(request);
    const [view, reviews, deletion] = await Promise.all([
      showUser(deps, _id),
      countReviewsOf(deps, _id),
      findDeletion(deps, _id),
    ]);
    if (!view) throw new PageError(404, t('This account no longer exists.'));
    return deletePage({ base, view, reviews, deletion, sendsMail: sendsMail() && emailVerified }, typed);
  };

  app.get('/account/delete', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, await show(request)),
  );

  formRoute(app, {
    path: '/account/delete',
    access: SIGNED_IN,
    schema: (request) => proofForm(userOf(request)),
    secrets: SECRET_FIELDS,
    show,
    run: async ({ request, user, data }) => {
      const proven = await withReAuthentication(request, { deps, auth }, data, () =>
        requestDeletion(deps, user),
      );
      if ('errors' in proven) return proven;
      request.log.info({ event: 'account.deletion_requested', userId: user._id.toHexString() });
      return `${base}/account`;
    },
    refusalOf: (error) => (error instanceof UserError ? refused(409, error.message) : undefined),
  });

  formRoute(app, {
    path: '/account/delete/cancel',
    access: SIGNED_IN,
    run: async ({ request, user: { _id } }) => {
      const isKept = await cancelDeletion(deps, _id);
      if (isKept) request.log.info({ event: 'account.deletion_cancelled', userId: _id.toHexString() });
      return `${base}/account${isKept ? '?done=kept' : ''}`;
    },
  });

  app.get('/keep-account', ANYONE, async (request, reply) => {
    const { token } = tokenForm.parse(request.query);
    const deletion = await deletionOfLink(deps, token);
    if (!deletion) return sendPage(request, reply, invalidKeepLinkPage(base), 400);
    return sendPage(request, reply, keepPage(base, deletion, token));
  });

  formRoute(app, {
    path: '/keep-account',
    access: ANYONE,
    schema: tokenForm,
    run: async ({ request, data }) => {
      const deletion = await deletionOfLink(deps, data.token);
      if (!deletion || !(await cancelDeletion(deps, deletion._id))) {
        return { page: invalidKeepLinkPage(base), status: 400 };
      }
      request.log.info({ event: 'account.deletion_cancelled', userId: deletion._id.toHexString() });
      return { page: keptPage(base) };
    },
  });
}

export function deletionBanner(base: string, deletion: AccountDeletion | null): Content {
  if (!deletion) return '';
  const sentence = t('Your account will be deleted on {time}, with your servers and reviews.', {
    time: time(deletion.dueAt),
  });
  return notice(
    'attention',
    html`<div class="stack">
      <p>${sentence}</p>
      ${button({ to: `${base}/account/delete/cancel`, text: t('Keep my account'), kind: 'primary' })}
    </div>`,
  );
}

type Deleting = {
  base: string;
  view: UserView;
  reviews: number;
  deletion: AccountDeletion | null;
  sendsMail: boolean;
};

function deletePage(deleting: Deleting, typed: Typed): Page {
  const { base, view, deletion, sendsMail } = deleting;
  const days = DELETION_DELAY_DAYS;
  const delay = sendsMail
    ? t(
        'Your account is deleted after {days} days. Until then everything stays as it is, and you can change your mind with the link that we mail to you, or on your account page. After that nobody can bring it back.',
        { days },
      )
    : t(
        'Your account is deleted after {days} days. Until then everything stays as it is, and you can change your mind on your account page. After that nobody can bring it back.',
        { days },
      );
  return narrowPage(
    t('Delete your account'),
    html`${deletionBanner(base, deletion)}
      <p>${delay}</p>
      ${card({ title: t('What happens'), body: consequences(deleting) })}
      ${
        deletion
          ? ''
          : html`<form method="post" action="${base}/account/delete" class="card stack">
              ${reAuthenticationFields(typed, view.user)}
              <button type="submit" class="danger">${t('Delete my account in {days} days', { days })}</button>
              ${view.hasPassword ? '' : noPasswordYet(base)}
            </form>`
      }
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  );
}

function consequences({ view: { servers }, reviews }: Deleting): Html {
  const removed = t(
    'Removed from the listing for ever: {servers}. Their members lose them too, and votes that still wait for a vote listener are not delivered. If a server should stay listed, ask the operator to transfer it to another account first.',
    { servers: names(servers) },
  );
  const ownReviews =
    reviews === 0
      ? t('You have written none.')
      : t('Your {reviews} and the owners’ answers are deleted.', { reviews: counted(reviews, 'review') });
  return facts([
    [t('Servers'), servers.length === 0 ? t('You have none.') : removed],
    [t('Servers of others'), t('You leave the servers that you are a member of. They stay listed.')],
    [t('API tokens'), t('All tokens and claim keys of your servers stop working.')],
    [t('Reviews'), `${ownReviews} ${t('Reviews of your servers disappear with them.')}`],
    [
      t('Votes'),
      t('Votes carry a player name and not your account, so votes for other servers stay and still count.'),
    ],
    [t('Reports'), t('Your reports about servers stay without your account.')],
    [t('Favourites'), t('Your favourites, and the player name of your last vote on a page, are deleted.')],
    [
      t('Sign-in'),
      t(
        'Your e-mail address, name, password, second factor and sessions are deleted. You can sign up again with the same address.',
      ),
    ],
    [
      t('What stays'),
      t(
        'The operators’ audit log keeps your address with the changes that you made. The record of mails keeps it for {days} days.',
        { days: MAIL_TTL_MS / DAY },
      ),
    ],
  ]);
}

function names(servers: UserView['servers']): Html {
  return html`${servers.map(({ name }, index) => html`${index > 0 ? ', ' : ''}<bdi>${name}</bdi>`)}`;
}

/** Opening the mailed link changes nothing: mail scanners open every link. */
function keepPage(base: string, { dueAt }: AccountDeletion, token: string): Page {
  const ifUnasked = t(
    'If you did not ask for the deletion, somebody knows your password. Keep the account, then <a>set a new password</a>.',
    { a: linkTo(`${base}/forgot-password`) },
  );
  return narrowPage(
    t('Keep your account'),
    html`<div class="card stack">
        <p>${t('Your account will be deleted on {time}.', { time: time(dueAt) })}</p>
        ${button({ to: `${base}/keep-account`, text: t('Keep my account'), kind: 'primary', hidden: { token } })}
        <p class="soft small">${ifUnasked}</p>
      </div>`,
  );
}

function keptPage(base: string): Page {
  return narrowPage(
    t('Your account stays'),
    html`<p>${t('The deletion is cancelled. Nothing was deleted.')}</p>
      <p><a class="button" href="${base}/account">${t('Your account')}</a></p>`,
  );
}

function invalidKeepLinkPage(base: string): Page {
  return narrowPage(
    t('This link does not work'),
    html`<p>${t('The deletion was cancelled already, or the account is deleted; or the link is incomplete.')}</p>
      <p>${t('See <a>your account</a>.', { a: linkTo(`${base}/account`) })}</p>`,
  );
}
