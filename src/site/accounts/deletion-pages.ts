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
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE, SIGNED_IN } from '../page-route.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../shared/form.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { AccountParts } from './account-parts.ts';
import { deletePage, invalidKeepLinkPage, keepPage, keptPage } from './deletion-views.ts';
import { passwordAndCodeForm, passwordForm, withReAuthentication } from './re-authentication.ts';

const tokenForm = z.object({ token: z.string().max(MAX_TOKEN_LENGTH) });

/** `/account/delete` requests the deletion of an account, and `/keep-account` is the page behind the link that cancels it. */
export function deletionPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = deps.config.SMTP_URL !== undefined;

  const show = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const { _id, emailVerified } = userOf(request);
    const [view, reviews, deletion] = await Promise.all([
      showUser(deps, _id),
      countReviewsOf(deps, _id),
      findDeletion(deps, _id),
    ]);
    if (!view) throw new PageError(404, t('This account no longer exists.'));
    return deletePage({ base, view, reviews, deletion, sendsMail: sendsMail && emailVerified }, typed);
  };

  app.get('/account/delete', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, await show(request)),
  );

  app.post('/account/delete', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const { data, typed } = readForm(user.twoFactorEnabled ? passwordAndCodeForm : passwordForm, request);
    if (!data) return sendPage(request, reply, await show(request, typed), 400);
    try {
      const proven = await withReAuthentication(request, { deps, auth }, data, () =>
        requestDeletion(deps, user),
      );
      if ('refused' in proven) {
        return sendPage(request, reply, await show(request, withError(typed, proven.refused)), 400);
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return sendPage(request, reply, await show(request, withError(typed, error.message)), 409);
    }
    request.log.info({ event: 'account.deletion_requested', userId: user._id.toHexString() });
    return reply.redirect(`${base}/account`, 303);
  });

  app.post('/account/delete/cancel', SIGNED_IN, async (request, reply) => {
    const { _id } = userOf(request);
    const isKept = await cancelDeletion(deps, _id);
    if (isKept) request.log.info({ event: 'account.deletion_cancelled', userId: _id.toHexString() });
    return reply.redirect(`${base}/account${isKept ? '?done=kept' : ''}`, 303);
  });

  app.get('/keep-account', ANYONE, async (request, reply) => {
    const { data } = tokenForm.safeParse(request.query);
    const deletion = data ? await deletionOfLink(deps, data.token) : null;
    if (!data || !deletion) return sendPage(request, reply, invalidKeepLinkPage(base), 400);
    return sendPage(request, reply, keepPage(base, deletion, data.token));
  });

  app.post('/keep-account', ANYONE, async (request, reply) => {
    const { data } = readForm(tokenForm, request);
    const deletion = data ? await deletionOfLink(deps, data.token) : null;
    if (!deletion || !(await cancelDeletion(deps, deletion._id))) {
      return sendPage(request, reply, invalidKeepLinkPage(base), 400);
    }
    request.log.info({ event: 'account.deletion_cancelled', userId: deletion._id.toHexString() });
    return sendPage(request, reply, keptPage(base));
  });
}
