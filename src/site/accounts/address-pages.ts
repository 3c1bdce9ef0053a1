import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cancelAddressChange } from '../../accounts/address/cancel-change.ts';
import {
  addressSchema,
  changeAddressUnconfirmed,
  changeOfLink,
  confirmAddressChange,
  countAddressRequest,
  findAddressChange,
  requestAddressChange,
} from '../../accounts/address/change-address.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { defineMessage, t } from '../../language/t.ts';
import { showUser } from '../../workflows/find-users.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE, SIGNED_IN } from '../page-route.ts';
import { errorsOf, readForm, type Typed, typedValues, UNTOUCHED, withError } from '../shared/form.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { AccountParts } from './account-parts.ts';
import { changePage, confirmedPage, confirmPage, invalidLinkPage, sentPage } from './address-views.ts';
import { tooManyLinks, withMinimumDuration } from './better-auth-calls.ts';
import { passwordAndCodeForm, passwordForm, withReAuthentication } from './re-authentication.ts';

const TAKEN = defineMessage('An account with this e-mail address already exists.');

const decisionForm = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  decision: z.enum(['confirm', 'cancel'], { error: () => t('Choose one of these.') }),
});

/**
 * `/account/email` changes the address of an account, and `/confirm-address` is the page behind the two links. Opening
 * it changes nothing, because mail scanners open every link.
 */
export function addressPages(app: FastifyInstance, { deps, auth, devices }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = deps.config.SMTP_URL !== undefined;

  const form = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const view = await showUser(deps, userOf(request)._id);
    if (!view) throw new PageError(404, t('This account no longer exists.'));
    return changePage({ base, ...view, sendsMail }, typed);
  };

  app.get('/account/email', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, await form(request)),
  );

  app.post('/account/email', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const proof = user.twoFactorEnabled ? passwordAndCodeForm : passwordForm;
    const { data, typed } = readForm(proof.extend({ email: addressSchema }), request);
    if (!data) return sendPage(request, reply, await form(request, typed), 400);
    const { email } = data;
    const own = { user, sessionId: sessionOf(request) };
    const change = async () => {
      if (!sendsMail) return (await changeAddressUnconfirmed(deps, own, { email })) ? 'changed' : 'taken';
      const from = { address: request.ip, userId: user._id };
      const retryAt =
        (await countAddressRequest(deps, user._id)) ??
        (await countMail(deps, { email, ...from })) ??
        // The present address gets a mail too. Unconfirmed, it may be a stranger's.
        (user.emailVerified ? null : await countMail(deps, { email: user.email, ...from }));
      if (retryAt) throw tooManyLinks(retryAt);
      // The duration must not reveal whether another account has the address.
      await withMinimumDuration(() => requestAddressChange(deps, own, { email }));
      return 'requested';
    };
    try {
      const proven = await withReAuthentication(request, { deps, auth }, data, change);
      if ('refused' in proven) {
        return sendPage(request, reply, await form(request, withError(typed, proven.refused)), 400);
      }
      const result = proven.done;
      if (result === 'taken') {
        return sendPage(request, reply, await form(request, { ...typed, errors: { email: t(TAKEN) } }), 409);
      }
      request.log.info({ event: `account.address_${result}`, userId: user._id.toHexString() });
      if (result === 'requested') return sendPage(request, reply, sentPage(base, user.email, email));
      reply.header('set-cookie', devices.cookieFor(email));
      return reply.redirect(`${base}/account?done=email`, 303);
    } catch (error) {
      if (error instanceof PageError) throw error;
      return sendPage(request, reply, await form(request, errorsOf(error, typedValues(request))), 400);
    }
  });

  app.post('/account/email/cancel', SIGNED_IN, async (request, reply) => {
    const change = await findAddressChange(deps, userOf(request)._id);
    const isCancelled = change !== null && (await cancelAddressChange(deps, change));
    return reply.redirect(`${base}/account${isCancelled ? '?done=email-cancelled' : ''}`, 303);
  });

  app.get('/confirm-address', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const isToken = typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH;
    const found = isToken ? await changeOfLink(deps, token) : null;
    if (!found) return sendPage(request, reply, invalidLinkPage(base), 400);
    return sendPage(request, reply, confirmPage(base, found, token as string));
  });

  app.post('/confirm-address', ANYONE, async (request, reply) => {
    const { data } = readForm(decisionForm, request);
    const found = data && (await changeOfLink(deps, data.token));
    if (!found) return sendPage(request, reply, invalidLinkPage(base), 400);
    const { change, end } = found;
    const userId = change._id.toHexString();
    if (data.decision === 'cancel' && end === 'old') {
      const isCancelled = await cancelAddressChange(deps, change);
      if (!isCancelled) return sendPage(request, reply, invalidLinkPage(base), 400);
      request.log.info({ event: 'account.address_cancelled', userId });
      return sendPage(request, reply, confirmedPage(base, change, 'cancelled'));
    }
    const result = await confirmAddressChange(deps, data.token);
    request.log.info({ event: 'account.address_confirmed', userId, end, result });
    if (result === 'useless-link') return sendPage(request, reply, invalidLinkPage(base), 400);
    return sendPage(request, reply, confirmedPage(base, change, result, end), result === 'taken' ? 409 : 200);
  });
}

function sessionOf({ signedIn }: FastifyRequest) {
  if (!signedIn) throw new Error('this route requires a signed-in user');
  return signedIn.session.id;
}
