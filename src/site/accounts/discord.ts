import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { defineMessage, t } from '../../platform/language/t.ts';
import { signInHeaders } from '../access.ts';
import { typedValues } from '../form.ts';
import type { Content } from '../html.ts';
import { nextPath } from '../next-path.ts';
import { ANYONE } from '../page-route.ts';
import type { AccountSources } from './account-sources.ts';
import { giveCookies } from './library.ts';

/** Messages for failed sign-ins with Discord, by the library's code (`?error=` of the sign-in page). */
export const DISCORD_ERRORS = new Map([
  ['access_denied', defineMessage('You cancelled the sign-in with Discord.')],
  ['email_not_found', defineMessage('Your Discord account has no e-mail address.')],
  ['email_not_verified', defineMessage('Verify your e-mail address with Discord first.')],
  ['PASSWORD_NEEDED', defineMessage('This account requires its password. Sign in with your password.')],
]);

/** The message for all other codes. */
export const DISCORD_ERROR = defineMessage('Sign-in with Discord failed. Try again, or use your password.');

/**
 * Sign-in with Discord, if the operator has configured it. Of the library's own routes, only the OAuth callback is
 * exposed.
 */
export function discordPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const { DISCORD_CLIENT_ID, PUBLIC_URL } = platform.config;
  if (DISCORD_CLIENT_ID === undefined) return;

  app.post('/sign-in/discord', ANYONE, async (request, reply) => {
    const next = nextPath(typedValues(request).next, base, `${base}/dashboard`);
    const { headers, response } = await auth.api.signInSocial({
      body: {
        provider: 'discord',
        callbackURL: `${new URL(PUBLIC_URL).origin}${next}`,
        errorCallbackURL: `${PUBLIC_URL}/sign-in`,
        disableRedirect: true,
      },
      headers: signInHeaders(request),
      returnHeaders: true,
    });
    if (!response.url) throw new Error('the sign-in library returned no Discord URL');
    giveCookies(reply, headers);
    return reply.redirect(response.url, 303);
  });

  app.get('/api/auth/callback/discord', ANYONE, async (request, reply) => {
    const address = new URL(request.url, new URL(PUBLIC_URL).origin);
    const answer = await auth.handler(new Request(address, { headers: signInHeaders(request) }));
    giveCookies(reply, answer.headers);
    const location = answer.headers.get('location');
    if (!location) request.log.warn({ event: 'account.discord_failed', status: answer.status });
    return reply.redirect(location ?? `${base}/sign-in?error=failed`, 303);
  });
}

/** The button on the sign-in and sign-up pages. */
export function discordButton(base: string, clientId: string | undefined, next: string): Content {
  if (clientId === undefined) return '';
  return html`<form method="post" action="${base}/sign-in/discord" class="stack">
    <input type="hidden" name="next" value="${next}" />
    <button type="submit" class="quiet">${t('Continue with Discord')}</button>
  </form>`;
}
