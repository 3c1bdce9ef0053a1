import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { withLoggedError } from '../../accounts/library-cause.ts';
import { OpenIdError } from '../../accounts/other-sites/openid-connect.ts';
import { OTHER_SITE_IDS, type OtherSite, otherSites } from '../../accounts/other-sites/other-sites.ts';
import { OTHER_SITE_RETURNS, OTHER_SITE_SIGN_INS } from '../../accounts/sign-in-limits.ts';
import { logRefusal, refusalOf } from '../../http/http-errors.ts';
import { t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { DeadlineError, within } from '../../platform/deadline.ts';
import { errorType } from '../../platform/error-type.ts';
import { PageError } from '../error-pages.ts';
import { signInHeaders } from '../guard-routes.ts';
import { ANYONE } from '../route-options.ts';
import { giveCookies, TOO_MANY_ACCOUNTS } from '../shared/better-auth-calls.ts';
import type { Site } from '../shared/decorate-site.ts';
import { queryText } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Content, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { nextPage } from '../shared/next-path.ts';
import { refuseIfUsedUp, throwIfUsedUp } from '../shared/used-up.ts';
import type { AccountParts } from './account-parts.ts';
import { suspendedText } from './suspension.ts';

/** The messages for error codes that the sign-in page gets as `?error=`. Other codes have a general message. */
const ERRORS = new Map<string, (name: string) => string>([
  ['access_denied', (name) => t('You cancelled the sign-in with {name}.', { name })],
  ['email_not_found', noVerifiedAddress],
  ['email_not_verified', noVerifiedAddress],
  [
    'state_mismatch',
    (name) => t('The sign-in with {name} took too long, or began in another browser. Try again.', { name }),
  ],
  ['TOO_MANY_ACCOUNTS', () => t(TOO_MANY_ACCOUNTS)],
  ['PASSWORD_NEEDED', () => t('This account requires its password. Sign in with your password.')],
  [
    'unavailable',
    (name) =>
      t('Sign-in with {name} does not work at the moment. Try again later, or use your password.', { name }),
  ],
]);

function noVerifiedAddress(name: string): string {
  return t('Your account at {name} has no verified e-mail address. Verify one there first.', { name });
}

/** Sign-in through other sites, such as Discord. Browsers can reach only the OAuth callbacks of the sign-in library. */
export function otherSitePages(app: FastifyInstance, parts: AccountParts): void {
  for (const id of OTHER_SITE_IDS) {
    startRoute(id, app, parts);
    callbackRoute(id, app, parts);
  }
}

/** @throws {PageError} 404 if the operator has not configured the site */
function configuredSite({ config }: AccountParts['deps'], id: OtherSite['id']): OtherSite {
  const site = otherSites(config).find((one) => one.id === id);
  if (!site) throw new PageError(404, t('This page does not exist.'));
  return site;
}

function startRoute(id: OtherSite['id'], app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const { PUBLIC_URL } = deps.config;

  formRoute(app, {
    path: `/sign-in/${id}`,
    access: ANYONE,
    run: async ({ request, reply, values }) => {
      const { name } = configuredSite(deps, id);
      // If the user wanted no page: the sign-in page, which redirects signed-in users to their start page.
      const next = nextPage(app, values.next, `${base}/sign-in`);
      const usedUp = await refuseIfUsedUp(deps, OTHER_SITE_SIGN_INS, request.ip);
      if (usedUp) return usedUp;
      try {
        const { headers, response } = await auth.api.signInSocial({
          body: {
            provider: id,
            callbackURL: `${new URL(PUBLIC_URL).origin}${next}`,
            errorCallbackURL: `${PUBLIC_URL}/sign-in`,
            disableRedirect: true,
          },
          headers: signInHeaders(request),
          returnHeaders: true,
        });
        if (!response.url) throw new Error(`the sign-in library returned no address at ${id}`);
        giveCookies(reply, headers);
        // The answer is a page with the header `Refresh`, not a redirect. Browsers apply the policy `form-action` to
        // redirects after a form too, so the policy would have to name every site to which the provider redirects.
        reply.header('refresh', `0; url=${response.url}`);
        return { page: leavingPage(name, response.url) };
      } catch (error) {
        if (!(error instanceof OpenIdError)) throw error;
        logRefusedSignIn(request, id, { code: 'unavailable', reason: error.message });
        return `${base}/sign-in${queryText({ error: 'unavailable', from: id, next })}`;
      }
    },
  });
}

const STATE_COOKIE = /(^|;\s*)(__Secure-)?tallyport\.state=/;

/** The `Set-Cookie` header that begins a session. If the sign-in library deletes the cookie, the value is empty. */
const SESSION_COOKIE = /^(__Secure-)?tallyport\.session_token=[^;]/;

/** The time limit for all requests to the other site together. The library has no time limit of its own for Discord. */
const CALLBACK_TIMEOUT_MS = 15 * SECOND;

function callbackRoute(id: OtherSite['id'], app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const { origin } = new URL(deps.config.PUBLIC_URL);

  const options = {
    ...ANYONE,
    // The route waits for the other site. If it used one of the few slots for pages and that site hung: a few sign-ins
    // would block all pages.
    config: { ...ANYONE.config, skipsSlotHook: true },
    // There is no HEAD route, because a HEAD request would use up the sign-in that this browser has begun.
    exposeHeadRoute: false,
  } as const;
  app.get(`/api/auth/callback/${id}`, options, async (request, reply) => {
    configuredSite(deps, id);
    const refuse = (code: string, cause?: Error) => {
      logRefusedSignIn(request, id, { code, ...(cause ? { reason: reasonOf(cause) } : {}) });
      return reply.redirect(`${base}/sign-in${queryText({ error: code, from: id })}`, 303);
    };
    // If the cookie is missing, another site may have made the browser call this address: no attempt is counted.
    if (!STATE_COOKIE.test(request.headers.cookie ?? '')) return refuse('state_mismatch');
    await throwIfUsedUp(deps, OTHER_SITE_RETURNS, request.ip);
    const address = new URL(request.url, origin);
    let answer: Response;
    let cause: Error | undefined;
    try {
      const headers = signInHeaders(request);
      const finish = () => within(CALLBACK_TIMEOUT_MS, auth.handler(new Request(address, { headers })));
      ({ result: answer, cause } = await withLoggedError(finish));
    } catch (error) {
      if (error instanceof DeadlineError) return refuse('unavailable');
      logRefusal(request, error as Error, refusalOf(error as FastifyError, request));
      return refuse('failed');
    }
    giveCookies(reply, answer.headers);
    const location = redirectOf(answer, origin);
    // Only the session cookie shows the success: the address of the wanted page may have its own parameter `error`.
    if (location && answer.headers.getSetCookie().some((cookie) => SESSION_COOKIE.test(cookie))) {
      request.log.info({ event: 'account.signed_in', provider: id });
      return reply.redirect(location.href, 303);
    }
    // The provider sends a code in `error`. Anybody can call this address with any text, so only a short word counts.
    const code = location?.searchParams.get('error') ?? '';
    return refuse(/^\w{1,40}$/.test(code) ? code : 'failed', cause);
  });
}

function redirectOf({ status, headers }: Response, origin: string): URL | null {
  const location = headers.get('location');
  return location && status >= 300 && status < 400 ? URL.parse(location, origin) : null;
}

/** Why a sign-in failed, for the log. For most errors, this is only the type: a message may contain personal data. */
const reasonOf = (cause: Error) => (cause instanceof OpenIdError ? cause.message : errorType(cause));

function logRefusedSignIn(
  request: FastifyRequest,
  provider: OtherSite['id'],
  why: { code: string; reason?: string },
): void {
  request.log.warn({ event: 'account.sign_in_refused', provider, address: request.ip, ...why });
}

/** The message for the query `?error=CODE&from=ID` of the sign-in page. */
export function errorOfOtherSite(
  site: Site,
  sites: OtherSite[],
  { error, from }: { error?: unknown; from?: unknown },
): string | undefined {
  const other = sites.find(({ id }) => id === from);
  if (!other || typeof error !== 'string') return undefined;
  if (error === 'SUSPENDED') return suspendedText(site);
  const { name } = other;
  return (
    ERRORS.get(error)?.(name) ?? t('Sign-in with {name} failed. Try again, or use your password.', { name })
  );
}

/** `next`: the path of the page that the user wants afterwards. */
export function otherSiteButtons(base: string, sites: OtherSite[], next: string): Content {
  return html`${sites.map(
    ({ id, name }) => html`<form method="post" action="${base}/sign-in/${id}" class="stack">
    <input type="hidden" name="next" value="${next}" />
    <button type="submit" class="quiet">${t('Continue with {name}', { name })}</button>
  </form>`,
  )}`;
}

function leavingPage(name: string, url: string): Page {
  return narrowPage(
    t('Sign in'),
    html`<p>${t('You sign in at {name}.', { name })}</p>
      <p><a class="button" href="${url}" rel="noreferrer">${t('Continue with {name}', { name })}</a></p>`,
  );
}
