import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import { hashingFor } from '../../accounts/password-slots.ts';
import { addressOfSignUp, finishSignUp } from '../../accounts/sign-up.ts';
import { shownText } from '../../platform/text.ts';
import { readForm, type Typed, UNTOUCHED } from '../form.ts';
import { type Page, sendPage } from '../layout.ts';
import { ANYONE } from '../page-route.ts';
import { facts } from '../parts.ts';
import type { AccountSources } from './account-sources.ts';
import { askerOf } from './library.ts';
import { nameField, newPassword, newPasswordField, refuseOwn } from './sign-up.ts';

/** Longer than any that we make. */
const LONGEST_TOKEN = 200;

const finishForm = z.object({
  token: z.string().max(LONGEST_TOKEN),
  name: shownText(60),
  password: newPassword,
});

/**
 * `/verify-email`, where the link of a sign-up leads: whoever opens it chooses the name and the password. Opening it does
 * nothing yet: programs that look through mail open every link in it, and would confirm what nobody wanted.
 */
export function verifyEmailPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const addressOf = (token: unknown) =>
    typeof token === 'string' && token.length <= LONGEST_TOKEN ? addressOfSignUp(platform, token) : null;

  app.get('/verify-email', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const email = await addressOf(token);
    if (email === null) return sendPage(request, reply, uselessPage(base), 400);
    return sendPage(request, reply, finishPage({ base, email, token: String(token) }, UNTOUCHED));
  });

  app.post('/verify-email', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(finishForm, request);
    const token = typed.values.token ?? '';
    const email = await addressOf(token);
    if (email === null) {
      request.log.warn({ event: 'account.verification_refused', address: request.ip });
      return sendPage(request, reply, uselessPage(base), 400);
    }
    if (!data) return sendPage(request, reply, finishPage({ base, email, token }, typed), 400);
    const refused = refuseOwn(typed, data.password, { email, name: data.name });
    if (refused) return sendPage(request, reply, finishPage({ base, email, token }, refused), 400);
    const finished = await hashingFor(askerOf(request), () => finishSignUp(platform, auth, data));
    if (finished === 'useless-link') return sendPage(request, reply, uselessPage(base), 400);
    if (finished === 'has-account') return sendPage(request, reply, hasAccountPage(base), 409);
    request.log.info({ event: 'account.signed_up', userId: finished._id.toHexString() });
    return reply.redirect(`${base}/sign-in?done=verified`, 303);
  });
}

type Link = { base: string; email: string; token: string };

function finishPage({ base, email, token }: Link, typed: Typed): Page {
  return {
    title: 'Finish signing up',
    width: 'narrow',
    body: html`<h1>Finish signing up</h1>
      <form method="post" action="${base}/verify-email" class="card stack">
        <input type="hidden" name="token" value="${token}" />
        ${facts([['E-mail address', email]])}
        ${nameField(typed)}
        ${newPasswordField(typed)}
        <button type="submit">The address is mine</button>
        <p class="soft small">If you have not signed up here yourself, close this page: no account is made then.</p>
      </form>`,
  };
}

function uselessPage(base: string): Page {
  return {
    title: 'This link does not work',
    width: 'narrow',
    body: html`<h1>This link does not work</h1>
      <p>It was used already, it is over a day old, or a part of it is missing: mail programs break long lines.</p>
      <p><a href="${base}/sign-in">Sign in</a>, or <a href="${base}/sign-up">sign up once more</a>: we send you a new link then.</p>`,
  };
}

function hasAccountPage(base: string): Page {
  return {
    title: 'You have an account',
    width: 'narrow',
    body: html`<h1>You have an account</h1>
      <p>There is an account with your address by now. <a href="${base}/sign-in">Sign in</a>, or <a href="${base}/forgot-password">set a new password</a>.</p>`,
  };
}
