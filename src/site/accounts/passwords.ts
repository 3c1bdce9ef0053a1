import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { countLink } from '../../accounts/sign-in-limits.ts';
import { sendEntryLink } from '../../accounts/sign-up.ts';
import { signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../form.ts';
import { type Page, sendPage } from '../layout.ts';
import { ANYONE } from '../page-route.ts';
import { notice, textField } from '../parts.ts';
import type { AccountSources } from './account-sources.ts';
import { askerOf, evenly, refusalCode, TOO_MANY_LINKS } from './library.ts';
import { newPassword, newPasswordField, refuseOwn } from './sign-up.ts';

const forgotForm = z.object({
  email: z.string().trim().max(254, 'must be shorter').pipe(z.email('must be an e-mail address')),
});

/** Longer than any that we make. */
const LONGEST_TOKEN = 200;

const setForm = z.object({ token: z.string().max(LONGEST_TOKEN), password: newPassword });

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
    if (retryAt) throw new PageError(429, TOO_MANY_LINKS, retryAt);
    await evenly(() => sendEntryLink(platform, auth, data.email));
    return sendPage(request, reply, sentPage(data.email));
  });

  app.get('/set-password', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    if (typeof token !== 'string' || !(await whoseLink(token))) {
      return sendPage(request, reply, uselessPage(base, sendsMail), 400);
    }
    return sendPage(request, reply, setPage(base, token, UNTOUCHED));
  });

  app.post('/set-password', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(setForm, request);
    if (!data) return sendPage(request, reply, setPage(base, typed.values.token ?? '', typed), 400);
    const userId = await whoseLink(data.token);
    const user = userId ? await platform.users.findOne({ _id: new ObjectId(userId) }) : null;
    const refused = user && refuseOwn(typed, data.password, user);
    if (refused) return sendPage(request, reply, setPage(base, data.token, refused), 400);
    try {
      await hashingFor(askerOf(request), () =>
        auth.api.resetPassword({
          body: { token: data.token, newPassword: data.password },
          headers: signInHeaders(request),
        }),
      );
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.password_link_refused', address: request.ip, code });
      if (code !== 'INVALID_TOKEN') {
        const sentence = 'The password could not be set. Try another one.';
        return sendPage(request, reply, setPage(base, data.token, withError(typed, sentence)), 400);
      }
      return sendPage(request, reply, uselessPage(base, sendsMail), 400);
    }
    request.log.info({ event: 'account.password_set', address: request.ip });
    if (user) await noteAccountChange(platform, user, 'password');
    return reply.redirect(`${base}/sign-in?done=password-set`, 303);
  });

  /** The id of the user whose password a link sets; null when it does not work. Asking does not use it up. */
  async function whoseLink(token: string): Promise<string | null> {
    if (token.length > LONGEST_TOKEN) return null;
    const { internalAdapter } = await auth.$context;
    const found = await internalAdapter.findVerificationValue(`reset-password:${token}`);
    return found && found.expiresAt > new Date() ? found.value : null;
  }
}

function forgotPage(base: string, { values, errors }: Typed): Page {
  return {
    title: 'Forgotten password',
    width: 'narrow',
    body: html`<h1>Forgotten password</h1>
      <p>Tell us your e-mail address: we send you a link by which you set a new password.</p>
      ${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${base}/forgot-password" class="card stack">
        ${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: 254, value: values.email ?? '', error: errors.email })}
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

function setPage(base: string, token: string, typed: Typed): Page {
  const { errors } = typed;
  return {
    title: 'Set a password',
    width: 'narrow',
    body: html`<h1>Set a password</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${base}/set-password" class="card stack">
        <input type="hidden" name="token" value="${token}" />
        ${newPasswordField(typed, 'New password')}
        <button type="submit">Set the password</button>
        <p class="soft small">You are signed out everywhere then, and sign in with the new password.</p>
      </form>`,
  };
}
