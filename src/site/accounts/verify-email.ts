import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { signInHeaders } from '../access.ts';
import { typedValues } from '../form.ts';
import { type Page, sendPage } from '../layout.ts';
import { ANYONE } from '../page-route.ts';
import type { AccountSources } from './account-pages.ts';
import { refusalCode } from './library.ts';

/** Longer than any that we make. */
const LONGEST_TOKEN = 2_048;

/**
 * `/verify-email`, where the link of a sign-up leads. It asks for a press of a button: programs that look through
 * mail open every link in it, and would confirm what nobody wanted.
 */
export function verifyEmailPages(app: FastifyInstance, { auth }: AccountSources): void {
  const { base } = app.site;

  app.get('/verify-email', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    if (typeof token !== 'string' || token === '' || token.length > LONGEST_TOKEN) {
      return sendPage(request, reply, uselessPage(base, USELESS.INVALID_TOKEN), 400);
    }
    return sendPage(request, reply, confirmPage(base, token));
  });

  app.post('/verify-email', ANYONE, async (request, reply) => {
    const { token = '' } = typedValues(request);
    try {
      await auth.api.verifyEmail({
        query: { token: token.slice(0, LONGEST_TOKEN) },
        headers: signInHeaders(request),
      });
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.verification_refused', address: request.ip, code });
      return sendPage(request, reply, uselessPage(base, USELESS[code] ?? USELESS.INVALID_TOKEN), 400);
    }
    request.log.info({ event: 'account.verified', address: request.ip });
    return reply.redirect(`${base}/sign-in?done=verified`, 303);
  });
}

const USELESS = {
  INVALID_TOKEN: 'A part of the link is missing: mail programs break long lines. Copy the whole of it.',
  TOKEN_EXPIRED: 'It is over a day old.',
  USER_NOT_FOUND: 'There is no such account any more.',
} as Record<string, string> & { INVALID_TOKEN: string };

function confirmPage(base: string, token: string): Page {
  return {
    title: 'Confirm your address',
    width: 'narrow',
    body: html`<h1>Confirm your address</h1>
      <form method="post" action="${base}/verify-email" class="card stack">
        <input type="hidden" name="token" value="${token}" />
        <p>If you have signed up here yourself, confirm that the address is yours. If you have not, close this page.</p>
        <button type="submit">The address is mine</button>
      </form>`,
  };
}

function uselessPage(base: string, why: string): Page {
  return {
    title: 'This link does not work',
    width: 'narrow',
    body: html`<h1>This link does not work</h1>
      <p>${why}</p>
      <p><a href="${base}/sign-in">Sign in</a> with your address and password: we send you a new link then.</p>`,
  };
}
