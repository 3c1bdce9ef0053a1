import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import { countLink } from '../../accounts/sign-in-limits.ts';
import { signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withFault } from '../form.ts';
import { type Page, sendPage } from '../layout.ts';
import { ANYONE } from '../page-route.ts';
import { notice, textField } from '../parts.ts';
import type { AccountSources } from './account-pages.ts';
import { evenly, refusalCode } from './library.ts';
import { newPassword } from './sign-up.ts';

const forgotForm = z.object({
  email: z.string().trim().max(254, 'must be shorter').pipe(z.email('must be an e-mail address')),
});

const setForm = z.object({ token: z.string().max(200), password: newPassword });

/** `/forgot-password` sends a link, `/set-password` is where it leads. */
export function passwordPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const sendsMail = platform.config.SMTP_URL !== undefined;

  app.get('/forgot-password', ANYONE, async (request, reply) =>
    sendPage(request, reply, sendsMail ? forgotPage(base, UNTOUCHED) : askOperatorPage()),
  );

  app.post('/forgot-password', ANYONE, async (request, reply) => {
    if (!sendsMail) return sendPage(request, reply, askOperatorPage(), 404);
    const { data, typed } = readForm(forgotForm, request);
    if (!data) return sendPage(request, reply, forgotPage(base, typed), 400);
    const retryAt = await countLink(platform, { email: data.email, address: request.ip });
    if (retryAt) throw new PageError(429, 'Too many links were asked for. Wait a while.', retryAt);
    await evenly(() => auth.api.requestPasswordReset({ body: data, headers: signInHeaders(request) }));
    return sendPage(request, reply, sentPage(data.email));
  });

  app.get('/set-password', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    if (typeof token !== 'string' || !(await isGood(token))) {
      return sendPage(request, reply, uselessPage(base, sendsMail), 400);
    }
    return sendPage(request, reply, setPage(base, token, UNTOUCHED));
  });

  app.post('/set-password', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(setForm, request);
    if (!data) return sendPage(request, reply, setPage(base, typed.values.token ?? '', typed), 400);
    try {
      await auth.api.resetPassword({
        body: { token: data.token, newPassword: data.password },
        headers: signInHeaders(request),
      });
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.password_link_refused', address: request.ip, code });
      if (code !== 'INVALID_TOKEN') {
        const sentence = 'The password could not be set. Try another one.';
        return sendPage(request, reply, setPage(base, data.token, withFault(typed, sentence)), 400);
      }
      return sendPage(request, reply, uselessPage(base, sendsMail), 400);
    }
    request.log.info({ event: 'account.password_set', address: request.ip });
    return reply.redirect(`${base}/sign-in?done=password-set`, 303);
  });

  /** Whether the link still works; opening it does not use it up. */
  async function isGood(token: string): Promise<boolean> {
    if (token.length > 200) return false;
    const { internalAdapter } = await auth.$context;
    const found = await internalAdapter.findVerificationValue(`reset-password:${token}`);
    return found !== null && found.expiresAt > new Date();
  }
}

function forgotPage(base: string, { values, faults }: Typed): Page {
  return {
    title: 'Forgotten password',
    width: 'narrow',
    body: html`<h1>Forgotten password</h1>
      <p>Tell us your e-mail address: we send you a link by which you set a new password.</p>
      ${faults.form ? notice('bad', faults.form) : ''}
      <form method="post" action="${base}/forgot-password" class="card stack">
        ${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: 254, value: values.email ?? '', fault: faults.email })}
        <button type="submit">Send me a link</button>
      </form>
      <p><a href="${base}/sign-in">Back to signing in</a></p>`,
  };
}

/** The same whether the address is known or not. */
function sentPage(email: string): Page {
  return {
    title: 'Look into your mailbox',
    width: 'narrow',
    body: html`<h1>Look into your mailbox</h1>
      <p>If there is an account with the address ${email}, a link is on its way there. It works once, within an hour.</p>
      <p class="soft">Nothing came? Look among the spam, and check the address above for a slip.</p>`,
  };
}

function askOperatorPage(): Page {
  return {
    title: 'Forgotten password',
    width: 'narrow',
    body: html`<h1>Forgotten password</h1>
      <p>This listing sends no mail. Ask its operator for a link to set a new password: it takes them a minute.</p>`,
  };
}

function uselessPage(base: string, sendsMail: boolean): Page {
  return {
    title: 'This link does not work',
    width: 'narrow',
    body: html`<h1>This link does not work</h1>
      <p>It was used already, it is over an hour old, a newer password was set since, or a part of it is missing.</p>
      ${
        sendsMail
          ? html`<p><a class="button" href="${base}/forgot-password">Ask for a new one</a></p>`
          : html`<p>Ask whoever gave it to you for a new one.</p>`
      }`,
  };
}

function setPage(base: string, token: string, { faults }: Typed): Page {
  return {
    title: 'Set a password',
    width: 'narrow',
    body: html`<h1>Set a password</h1>
      ${faults.form ? notice('bad', faults.form) : ''}
      <form method="post" action="${base}/set-password" class="card stack">
        <input type="hidden" name="token" value="${token}" />
        ${textField({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', required: true, minlength: PASSWORD_LENGTH.min, maxlength: PASSWORD_LENGTH.max, fault: faults.password, hint: `At least ${PASSWORD_LENGTH.min} characters; several words do well.` })}
        <button type="submit">Set the password</button>
        <p class="soft small">You are signed out everywhere then, and sign in with the new password.</p>
      </form>`,
  };
}
