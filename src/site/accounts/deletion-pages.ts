import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  cancelDeletion,
  deletionOfLink,
  findDeletion,
  requestDeletion,
} from '../../accounts/deletion/request-deletion.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { UserError } from '../../accounts/users.ts';
import { t } from '../../language/t.ts';
import { countReviewsOf } from '../../reviews/own-review.ts';
import { showUser } from '../../workflows/find-users.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { proofForm, SECRET_FIELDS, withReAuthentication } from '../shared/re-authentication.ts';
import type { AccountParts } from './account-parts.ts';
import { deletePage, invalidKeepLinkPage, keepPage, keptPage } from './deletion-views.ts';

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
