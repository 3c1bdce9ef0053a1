import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  ADDRESS_CHANGES,
  addressSchema,
  cancelAddressChange,
  changeAddressUnconfirmed,
  changeOfLink,
  confirmAddressChange,
  findAddressChange,
  requestAddressChange,
} from '../../accounts/address/change-address.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { defineMessage, t } from '../../language/t.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { showUser } from '../../workflows/find-users.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { tooManyLinks, withMinimumDuration } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, type RefusedForm } from '../shared/form-route.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { proofForm, SECRET_FIELDS, withReAuthentication } from '../shared/re-authentication.ts';
import type { AccountParts } from './account-parts.ts';
import { changePage, confirmedPage, confirmPage, invalidLinkPage, sentPage } from './address-views.ts';

const TAKEN = defineMessage('An account with this e-mail address already exists.');

const decisionForm = z.object({
  // A value that cannot be a token becomes empty: the answer is then the same as for an invalid link.
  token: z.string().max(MAX_TOKEN_LENGTH).catch(''),
  decision: z.enum(['confirm', 'cancel'], { error: () => t('Choose one of these.') }),
});

/** `/account/email` changes the address of an account. */
export function addressPages(app: FastifyInstance, parts: AccountParts): void {
  changePages(app, parts);
  confirmationPages(app, parts.deps);
}

function changePages(app: FastifyInstance, { deps, auth, devices }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = () => deps.config.SMTP_URL !== undefined;

  const form = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const view = await showUser(deps, userOf(request)._id);
    if (!view) throw new PageError(404, t('This account no longer exists.'));
    return changePage({ base, ...view, sendsMail: sendsMail() }, typed);
  };

  app.get('/account/email', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, await form(request)),
  );

  formRoute(app, {
    path: '/account/email',
    access: SIGNED_IN,
    schema: (request) =>
      proofForm(userOf(request)).extend({
        email: addressSchema,
      }),
    secrets: SECRET_FIELDS,
    show: form,
    run: async ({ request, reply, user, data }) => {
      const proven = await withReAuthentication(request, { deps, auth }, data, () =>
        change(request, data.email),
      );
      if ('errors' in proven) return proven;
      const result = proven.done;
      if (typeof result !== 'string') return result;
      request.log.info({ event: `account.address_${result}`, userId: user._id.toHexString() });
      if (result === 'requested') return { page: sentPage(base, user.email, data.email) };
      reply.header('set-cookie', devices.cookieFor(data.email));
      return `${base}/account?done=email`;
    },
  });

  const change = async (
    request: FastifyRequest,
    email: string,
  ): Promise<'changed' | 'requested' | RefusedForm> => {
    const user = userOf(request);
    const own = { user, sessionId: sessionOf(request) };
    if (!sendsMail()) {
      const isChanged = await changeAddressUnconfirmed(deps, own, { email });
      return isChanged ? 'changed' : { status: 409, errors: { email: t(TAKEN) } };
    }
    const from = { address: request.ip, userId: user._id };
    const retryAt =
      (await countUse(deps, ADDRESS_CHANGES, user._id)) ??
      (await countMail(deps, { email, ...from })) ??
      // If the current address is not confirmed, it may be a stranger's. So the mail to it is counted as well.
      (user.emailVerified ? null : await countMail(deps, { email: user.email, ...from }));
    if (retryAt) return tooManyLinks(retryAt);
    // The duration must not depend on whether another account has the address, because that would reveal it.
    await withMinimumDuration(() => requestAddressChange(deps, own, { email }));
    return 'requested';
  };

  formRoute(app, {
    path: '/account/email/cancel',
    access: SIGNED_IN,
    run: async ({ user }) => {
      const change = await findAddressChange(deps, user._id);
      const isCancelled = change !== null && (await cancelAddressChange(deps, change));
      return `${base}/account${isCancelled ? '?done=email-cancelled' : ''}`;
    },
  });
}

/** `/confirm-address`: the page behind the mailed links. Opening it changes nothing: mail scanners open every link. */
function confirmationPages(app: FastifyInstance, deps: AccountParts['deps']): void {
  const { base } = app.site;

  app.get('/confirm-address', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const isToken = typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH;
    const found = isToken ? await changeOfLink(deps, token) : null;
    if (!found) return sendPage(request, reply, invalidLinkPage(base), 400);
    return sendPage(request, reply, confirmPage(base, found, token as string));
  });

  formRoute(app, {
    path: '/confirm-address',
    access: ANYONE,
    schema: decisionForm,
    run: async ({ request, data: { token, decision } }) => {
      const invalid = { page: invalidLinkPage(base), status: 400 };
      const found = await changeOfLink(deps, token);
      if (!found) return invalid;
      const { change, end } = found;
      const userId = change._id.toHexString();
      if (decision === 'cancel' && end === 'old') {
        if (!(await cancelAddressChange(deps, change))) return invalid;
        request.log.info({ event: 'account.address_cancelled', userId });
        return { page: confirmedPage(base, change, 'cancelled') };
      }
      const result = await confirmAddressChange(deps, token);
      request.log.info({ event: 'account.address_confirmed', userId, end, result });
      if (result === 'useless-link') return invalid;
      const page = confirmedPage(base, change, result, end);
      return { page, status: result === 'taken' ? 409 : 200 };
    },
  });
}

function sessionOf({ signedIn }: FastifyRequest) {
  if (!signedIn) throw new Error('this route requires a signed-in user');
  return signedIn.session.id;
}
