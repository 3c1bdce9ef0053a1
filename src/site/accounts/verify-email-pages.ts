import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { finishSignUp, readSignUp } from '../../accounts/sign-up.ts';
import { makeWithinLimits } from '../../accounts/sign-up-limits.ts';
import { t } from '../../language/t.ts';
import { ANYONE } from '../route-options.ts';
import { hashingClientOf, tooManyAccounts } from '../shared/better-auth-calls.ts';
import { queryText, type Typed, typedValues, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Content, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { nextPage } from '../shared/next-path.ts';
import { facts, linkTo } from '../shared/parts.ts';
import { newPassword, newPasswordField, refuseOwn, userName, userNameField } from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';
import { purposeOf } from './sign-in-next.ts';

const finishForm = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  name: userName,
  password: newPassword,
});

/** `/verify-email`: the page behind a sign-up link. Opening it changes nothing: mail scanners open every link. */
export function verifyEmailPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const read = (token: unknown) =>
    typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH ? readSignUp(deps, token) : null;

  const page = async ({ email, next }: { email: string; next: string }, token: string, typed: Typed) =>
    finishPage({ base, email, token, purpose: await purposeOf(deps, base, next) }, typed);

  app.get('/verify-email', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const link = await read(token);
    if (!link) return sendPage(request, reply, invalidLinkPage(base), 400);
    return sendPage(request, reply, await page(link, String(token), UNTOUCHED));
  });

  formRoute(app, {
    path: '/verify-email',
    access: ANYONE,
    schema: finishForm,
    secrets: ['password'],
    check: async (request) => {
      if (await read(typedValues(request).token)) return null;
      request.log.warn({ event: 'account.verification_refused', address: request.ip });
      return { page: invalidLinkPage(base), status: 400 };
    },
    show: async (_request, typed) => {
      const { token = '' } = typed.values;
      const link = await read(token);
      return link ? page(link, token, typed) : invalidLinkPage(base);
    },
    run: async ({ request, data }) => {
      const { email, next } = (await read(data.token)) ?? { email: '', next: '' };
      const own = refuseOwn(data.password, { email, name: data.name });
      if (own) return own;
      const made = await makeWithinLimits(
        deps,
        { email, address: request.ip },
        () => hashingFor(hashingClientOf(request), () => finishSignUp(deps, auth, data)),
        (result) => typeof result !== 'string',
      );
      // If too many accounts were created: the link is not used up, so it works later.
      if (made.retryAt) return tooManyAccounts(made.retryAt);
      const finished = made.result;
      if (finished === 'useless-link') return { page: invalidLinkPage(base), status: 400 };
      if (finished === 'has-account') return { page: hasAccountPage(base), status: 409 };
      request.log.info({ event: 'account.signed_up', userId: finished._id.toHexString() });
      return `${base}/sign-in${queryText({ done: 'verified', next: nextPage(app, next, '') })}`;
    },
  });
}

type Link = { base: string; email: string; token: string; purpose: Content };

function finishPage({ base, email, token, purpose }: Link, typed: Typed): Page {
  return narrowPage(
    t('Finish signing up'),
    html`${purpose}
      <form method="post" action="${base}/verify-email" class="card stack">
        <input type="hidden" name="token" value="${token}" />
        ${facts([[t('E-mail address'), email]])}
        ${userNameField(typed)}
        ${newPasswordField(typed)}
        <button type="submit">${t('Create account')}</button>
        <p class="soft small">${t('If you did not sign up here, close this page. No account will be created.')}</p>
      </form>`,
  );
}

function invalidLinkPage(base: string): Page {
  return narrowPage(
    t('This link does not work'),
    html`<p>${t(
      'It was already used, it is more than one day old, or it is incomplete. Some mail programs break long links.',
    )}</p>
      <p>${t('<a>Sign in</a>, or <a2>sign up again</a2> to get a new link.', {
        a: linkTo(`${base}/sign-in`),
        a2: linkTo(`${base}/sign-up`),
      })}</p>`,
  );
}

function hasAccountPage(base: string): Page {
  return narrowPage(
    t('You already have an account'),
    html`<p>${t(
      'An account with your e-mail address already exists. <a>Sign in</a>, or <a2>set a new password</a2>.',
      { a: linkTo(`${base}/sign-in`), a2: linkTo(`${base}/forgot-password`) },
    )}</p>`,
  );
}
