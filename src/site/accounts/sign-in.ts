import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Auth } from '../../accounts/auth.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { APP_CODE, asGivenOut } from '../../accounts/second-factor.ts';
import { countCode, countLink, countTry, forgiveTry } from '../../accounts/sign-in-limits.ts';
import { offerAccount } from '../../accounts/sign-up.ts';
import { signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../form.ts';
import type { Content } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { nextPath } from '../next-path.ts';
import { ANYONE } from '../page-route.ts';
import { notice, textField } from '../parts.ts';
import type { AccountSources } from './account-sources.ts';
import { DISCORD_ERROR, DISCORD_ERRORS, discordButton } from './discord.ts';
import { askerOf, giveCookies, refusalCode } from './library.ts';

const signInForm = z.object({
  email: z.string().trim().min(1, 'Enter your e-mail address.').max(254, 'That is too long for an address.'),
  password: z.string().min(1, 'Enter your password.').max(256, 'That is too long for a password.'),
  next: z.string().max(2_048).optional(),
});

const codeForm = z.object({
  code: z
    .string()
    .transform(asGivenOut)
    .pipe(z.string().min(1, 'Enter the code.').max(32, 'That is too long for a code.')),
  next: z.string().max(2_048).optional(),
});

const SAYS = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out everywhere.',
  'password-set': 'Your password is set. Sign in with it.',
  'code-too-late': 'This sign-in has ended before its code came. Sign in again.',
  verified: 'Your address is confirmed. Sign in.',
  'not-sent': 'You are not signed in any more, so nothing was saved. Sign in and send it once more.',
};

/** What the library refuses a sign-in with, in words; what is not here is a wrong address or password. */
const REFUSALS: Record<string, string> = {
  SUSPENDED: 'This account is suspended. Ask the operator of this listing.',
  EMAIL_NOT_VERIFIED:
    'Your address is not confirmed yet. Open the link that we have sent you: there you choose your password.',
};

const CODE_REFUSALS: Record<string, string> = {
  CODE_USED: 'That code was used already. Wait for the next one and enter it here.',
  ACCOUNT_TEMPORARILY_LOCKED: 'There were too many wrong codes. Wait a quarter of an hour.',
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'There were too many wrong codes. Sign in again.',
};

/** `/sign-in`, with the second step for those who have a second factor, and `/sign-out`. */
export function signInPages(app: FastifyInstance, { platform, auth, devices }: AccountSources): void {
  const { base } = app.site;
  const inside = (next: unknown) => nextPath(next, base, `${base}/dashboard`);
  const discord = (next: string) => discordButton(base, platform.config.DISCORD_CLIENT_ID, next);
  const page = (next: string, typed: Typed) => signInPage({ base, next, otherWay: discord(next) }, typed);

  app.get('/sign-in', ANYONE, async (request, reply) => {
    const { next, error } = request.query as { next?: unknown; error?: unknown };
    if (request.signedIn && next === undefined) return reply.redirect(`${base}/dashboard`, 303);
    return sendPage(request, reply, page(inside(next), fromDiscord(error)));
  });

  app.post('/sign-in', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(signInForm, request);
    const next = inside(typed.values.next);
    if (!data) return sendPage(request, reply, page(next, typed), 400);
    const device = devices.find(request.headers.cookie, data.email);
    const who = { email: data.email, address: request.ip, device };
    refuseTooMany(await countTry(platform, who));
    try {
      const { headers, response } = await hashingFor(askerOf(request, device && data.email), () =>
        auth.api.signInEmail({
          body: { email: data.email, password: data.password },
          headers: signInHeaders(request),
          returnHeaders: true,
        }),
      );
      giveCookies(reply, headers);
      if ('twoFactorRedirect' in response) {
        return reply.redirect(`${base}/sign-in/code?next=${encodeURIComponent(next)}`, 303);
      }
      await forgiveTry(platform, who);
      reply.header('set-cookie', devices.cookieFor(data.email));
      request.log.info({ event: 'account.signed_in', userId: response.user.id });
      return reply.redirect(next, 303);
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.sign_in_refused', address: request.ip, code });
      if (code === 'EMAIL_NOT_VERIFIED' && !(await countLink(platform, who))) {
        await offerAccount(platform, data.email);
      }
      const sentence = REFUSALS[code] ?? 'There is no account with this address and password.';
      return sendPage(request, reply, page(next, withError(typed, sentence)), 401);
    }
  });

  app.get('/sign-in/code', ANYONE, async (request, reply) => {
    const { next } = request.query as { next?: unknown };
    return sendPage(request, reply, codePage(base, inside(next), UNTOUCHED));
  });

  app.post('/sign-in/code', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(codeForm, request);
    const next = inside(typed.values.next);
    if (!data) return sendPage(request, reply, codePage(base, next, typed), 400);
    refuseTooMany(await countCode(platform, request.ip));
    try {
      const asked = {
        body: { code: data.code },
        headers: await headersOfPending(request, auth),
        returnHeaders: true,
      } as const;
      const { headers, response } = APP_CODE.test(data.code)
        ? await auth.api.verifyTOTP(asked)
        : await auth.api.verifyBackupCode(asked);
      giveCookies(reply, headers);
      reply.header('set-cookie', devices.cookieFor(response.user.email));
      return reply.redirect(next, 303);
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.code_refused', address: request.ip, code });
      if (code === 'INVALID_TWO_FACTOR_COOKIE') {
        return reply.redirect(`${base}/sign-in?done=code-too-late&next=${encodeURIComponent(next)}`, 303);
      }
      const sentence = CODE_REFUSALS[code] ?? 'That code is not right, or it is too old.';
      return sendPage(request, reply, codePage(base, next, withError(typed, sentence)), 401);
    }
  });

  app.post('/sign-out', ANYONE, async (request, reply) => {
    const { headers } = await auth.api.signOut({ headers: signInHeaders(request), returnHeaders: true });
    giveCookies(reply, headers);
    return reply.redirect(`${base}/sign-in?done=signed-out`, 303);
  });
}

/**
 * A request's headers with the sign-in that waits for its code, and without any session: within one, the sign-in
 * library checks codes without counting wrong ones, and uses none up.
 */
async function headersOfPending(request: FastifyRequest, auth: Auth): Promise<Headers> {
  const headers = signInHeaders(request);
  const context = await auth.$context;
  const { name } = context.createAuthCookie('two_factor');
  const cookies = (headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  headers.set('cookie', cookies.filter((cookie) => cookie.startsWith(`${name}=`)).join('; '));
  return headers;
}

function refuseTooMany(retryAt: Date | null): void {
  if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
}

/** What came back from Discord that is no sign-in. */
function fromDiscord(error: unknown): Typed {
  if (typeof error !== 'string') return UNTOUCHED;
  return withError(UNTOUCHED, DISCORD_ERRORS.get(error) ?? DISCORD_ERROR);
}

type SignIn = { base: string; next: string; otherWay: Content };

function signInPage({ base, next, otherWay }: SignIn, { values, errors }: Typed): Page {
  return {
    title: 'Sign in',
    width: 'narrow',
    says: SAYS,
    body: html`<h1>Sign in</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${base}/sign-in" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, value: values.email ?? '', error: errors.email })}
        ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true, error: errors.password })}
        <button type="submit">Sign in</button>
        <p><a href="${base}/forgot-password">Forgot your password?</a></p>
      </form>
      ${otherWay}
      <p>New here? <a href="${base}/sign-up?next=${encodeURIComponent(next)}">Sign up</a> to list a server or to review one.</p>`,
  };
}

function codePage(base: string, next: string, { errors }: Typed): Page {
  return {
    title: 'Second factor',
    width: 'narrow',
    body: html`<h1>Second factor</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${base}/sign-in/code" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${textField({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, autofocus: true, error: errors.code, hint: 'Six digits from your authenticator app, or one of your backup codes.' })}
        <button type="submit">Go on</button>
      </form>`,
  };
}
