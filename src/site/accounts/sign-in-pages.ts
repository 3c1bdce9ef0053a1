import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { type Auth, LOCKED_MINUTES } from '../../accounts/auth.ts';
import { forLibrary } from '../../accounts/library-email.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { otherSites } from '../../accounts/other-sites/other-sites.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { APP_CODE, asGivenOut } from '../../accounts/second-factor.ts';
import { CODES, countTry, forgiveTry, TOO_MANY_ATTEMPTS } from '../../accounts/sign-in-limits.ts';
import { offerAccount } from '../../accounts/sign-up.ts';
import { defineMessage, filled, type Text, t } from '../../language/t.ts';
import { storedEmail } from '../../platform/email-address.ts';
import { signInHeaders } from '../guard-routes.ts';
import { ANYONE } from '../route-options.ts';
import { giveCookies, hashingClientOf, refusalCode } from '../shared/better-auth-calls.ts';
import { withErrorSummary } from '../shared/error-summary.ts';
import { queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Content, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { nextPage } from '../shared/next-path.ts';
import { linkTo } from '../shared/parts.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import { emailField } from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';
import { errorOfOtherSite, otherSiteButtons } from './other-site-pages.ts';
import { homeOf, purposeOf } from './sign-in-next.ts';
import { suspensionNotice } from './suspension.ts';

const signInForm = z.object({
  email: z
    .string()
    .trim()
    .min(1, { error: () => t('Enter your e-mail address.') })
    .max(254, { error: () => t('The address is too long.') })
    .transform(storedEmail),
  password: z
    .string()
    .min(1, { error: () => t('Enter your password.') })
    .max(256, { error: () => t('The password is too long.') }),
  next: z.string().max(2_048).optional(),
});

const codeForm = z.object({
  code: z
    .string()
    .transform(asGivenOut)
    .pipe(
      z
        .string()
        .min(1, { error: () => t('Enter the code.') })
        .max(32, { error: () => t('The code is too long.') }),
    ),
  next: z.string().max(2_048).optional(),
});

const MESSAGES = {
  'signed-out': defineMessage('You are signed out.'),
  'signed-out-everywhere': defineMessage('You are signed out of all sessions.'),
  'password-set': defineMessage('Password set. Sign in with your new password.'),
  'code-too-late': defineMessage('This sign-in has expired. Sign in again.'),
  'operator-made': defineMessage('You are the operator now. Sign in to continue.'),
  verified: defineMessage('Your e-mail address is confirmed. Sign in to continue.'),
  'not-sent': defineMessage('Your session has ended, so nothing was saved. Sign in and try again.'),
};

/** Messages for error codes of the sign-in library. Others, except `SUSPENDED`, mean a wrong address or password. */
const REFUSALS: Record<string, Text> = {
  EMAIL_NOT_VERIFIED: defineMessage(
    'Your e-mail address is not confirmed yet. Open the link that we sent you to choose your password.',
  ),
};

const CODE_REFUSALS: Record<string, Text> = {
  CODE_USED: defineMessage('That code was already used. Wait for the next one.'),
  ACCOUNT_TEMPORARILY_LOCKED: filled(defineMessage('Too many wrong codes. Try again in {minutes} minutes.'), {
    minutes: LOCKED_MINUTES,
  }),
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: defineMessage('Too many wrong codes. Sign in again.'),
};

/** `/sign-in`, `/sign-in/code` (for the second factor) and `/sign-out`. */
export function signInPages(app: FastifyInstance, parts: AccountParts): void {
  const { base } = app.site;
  passwordPages(app, parts);
  codePages(app, parts);

  formRoute(app, {
    path: '/sign-out',
    access: ANYONE,
    run: async ({ request, reply }) => {
      const { headers } = await parts.auth.api.signOut({
        headers: signInHeaders(request),
        returnHeaders: true,
      });
      giveCookies(reply, headers);
      return `${base}/sign-in?done=signed-out`;
    },
  });
}

function passwordPages(app: FastifyInstance, { deps, auth, devices }: AccountParts): void {
  const { base } = app.site;
  const inside = (next: unknown) => nextPage(app, next, '');
  const sites = () => otherSites(deps.config);
  const page = async (next: string, typed: Typed) => {
    const purpose = await purposeOf(deps, base, next);
    return signInPage({ base, next, purpose, buttons: otherSiteButtons(base, sites(), next) }, typed);
  };

  app.get('/sign-in', ANYONE, async (request, reply) => {
    const query = request.query as { next?: unknown; error?: unknown; from?: unknown };
    const { next } = query;
    if (request.signedIn && next === undefined)
      return reply.redirect(await homeOf(deps, base, request.signedIn.user._id), 303);
    const shown = await page(inside(next), UNTOUCHED);
    const error = errorOfOtherSite(app.site, sites(), query);
    return sendPage(request, reply, error ? await withErrorSummary(shown, { form: error }) : shown);
  });

  formRoute(app, {
    path: '/sign-in',
    access: ANYONE,
    schema: signInForm,
    secrets: ['password'],
    show: (_request, typed) => page(inside(typed.values.next), typed),
    run: async ({ request, reply, data }) => {
      const next = inside(data.next);
      const device = devices.find(request.headers.cookie, data.email);
      const who = { email: data.email, address: request.ip, device };
      const retryAt = await countTry(deps, who);
      if (retryAt) return refused(429, t(TOO_MANY_ATTEMPTS), retryAt);
      try {
        const { headers, response } = await hashingFor(hashingClientOf(request, device && data.email), () =>
          auth.api.signInEmail({
            body: { email: forLibrary(data.email), password: data.password },
            headers: signInHeaders(request),
            returnHeaders: true,
          }),
        );
        giveCookies(reply, headers);
        if ('twoFactorRedirect' in response) return `${base}/sign-in/code${queryText({ next })}`;
        await forgiveTry(deps, who);
        reply.header('set-cookie', devices.cookieFor(data.email));
        request.log.info({ event: 'account.signed_in', userId: response.user.id });
        return next || (await homeOf(deps, base, new ObjectId(response.user.id)));
      } catch (error) {
        const code = refusalCode(error);
        request.log.warn({ event: 'account.sign_in_refused', address: request.ip, code });
        if (code === 'EMAIL_NOT_VERIFIED' && !(await countMail(deps, who))) {
          await offerAccount(deps, data.email, next);
        }
        return refused(
          401,
          code === 'SUSPENDED'
            ? await suspensionNotice(deps, app.site, data.email)
            : t(REFUSALS[code] ?? 'Wrong e-mail address or password.'),
        );
      }
    },
  });
}

function codePages(app: FastifyInstance, { deps, auth, devices }: AccountParts): void {
  const { base } = app.site;
  const inside = (next: unknown) => nextPage(app, next, '');

  app.get('/sign-in/code', ANYONE, async (request, reply) => {
    const { next } = request.query as { next?: unknown };
    return sendPage(request, reply, codePage(base, inside(next), UNTOUCHED));
  });

  formRoute(app, {
    path: '/sign-in/code',
    access: ANYONE,
    schema: codeForm,
    secrets: ['code'],
    show: (_request, typed) => codePage(base, inside(typed.values.next), typed),
    run: async ({ request, reply, data }) => {
      const next = inside(data.next);
      const usedUp = await refuseIfUsedUp(deps, CODES, request.ip);
      if (usedUp) return usedUp;
      try {
        const verification = {
          body: { code: data.code },
          headers: await headersOfPending(request, auth),
          returnHeaders: true,
        } as const;
        const { headers, response } = APP_CODE.test(data.code)
          ? await auth.api.verifyTOTP(verification)
          : await auth.api.verifyBackupCode(verification);
        giveCookies(reply, headers);
        reply.header('set-cookie', devices.cookieFor(response.user.email));
        return next || (await homeOf(deps, base, new ObjectId(response.user.id)));
      } catch (error) {
        const code = refusalCode(error);
        request.log.warn({ event: 'account.code_refused', address: request.ip, code });
        if (code === 'INVALID_TWO_FACTOR_COOKIE') {
          return `${base}/sign-in${queryText({ done: 'code-too-late', next })}`;
        }
        return refused(401, t(CODE_REFUSALS[code] ?? 'The code is wrong or has expired.'));
      }
    },
  });
}

/** Without other cookies: if the request had a session, the library would neither count wrong codes nor used ones. */
async function headersOfPending(request: FastifyRequest, auth: Auth): Promise<Headers> {
  const headers = signInHeaders(request);
  const context = await auth.$context;
  const { name } = context.createAuthCookie('two_factor');
  const cookies = (headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  headers.set('cookie', cookies.filter((cookie) => cookie.startsWith(`${name}=`)).join('; '));
  return headers;
}

type SignIn = { base: string; next: string; purpose: Content; buttons: Content };

function signInPage({ base, next, purpose, buttons }: SignIn, typed: Typed): Page {
  const page = narrowPage(
    t('Sign in'),
    html`${purpose}
      <form method="post" action="${base}/sign-in" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${emailField(typed)}
        ${fieldsOf(typed).secret('password', {
          label: t('Password'),
          type: 'password',
          autocomplete: 'current-password',
          required: true,
        })}
        <button type="submit">${t('Sign in')}</button>
        <p><a href="${base}/forgot-password">${t('Forgot your password?')}</a></p>
      </form>
      ${buttons}
      <p>${t('New here? <a>Sign up</a> to keep favourites, write reviews or list your server.', {
        a: linkTo(`${base}/sign-up${queryText({ next })}`),
      })}</p>`,
  );
  return { ...page, messages: MESSAGES };
}

function codePage(base: string, next: string, typed: Typed): Page {
  return narrowPage(
    t('Two-factor authentication'),
    html`<form method="post" action="${base}/sign-in/code" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${fieldsOf(typed).secret('code', {
          label: t('Code'),
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          required: true,
          autofocus: true,
          hint: t('Six digits from your authenticator app, or one of your backup codes.'),
        })}
        <button type="submit">${t('Continue')}</button>
      </form>`,
  );
}
