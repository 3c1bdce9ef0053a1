import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { addressSchema } from '../../accounts/address/change-address.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { sendEntryLink } from '../../accounts/sign-up.ts';
import { t } from '../../language/t.ts';
import { signInHeaders } from '../guard-routes.ts';
import { ANYONE } from '../route-options.ts';
import {
  hashingClientOf,
  refusalCode,
  tooManyLinks,
  withMinimumDuration,
} from '../shared/better-auth-calls.ts';
import { contactLine } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { emailField, newPassword, newPasswordField, refuseOwn } from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';

/** A value that cannot be a token becomes empty: the answer is then the same as for an invalid link. */
const setForm = z.object({ token: z.string().max(MAX_TOKEN_LENGTH).catch(''), password: newPassword });

/** `/forgot-password`, which mails a link, and `/set-password`, to which the link leads. */
export function passwordPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = () => deps.config.SMTP_URL !== undefined;

  app.get('/forgot-password', ANYONE, async (request, reply) =>
    sendPage(request, reply, sendsMail() ? forgotPage(app.site, UNTOUCHED) : askOperatorPage(app.site)),
  );

  formRoute(app, {
    path: '/forgot-password',
    access: ANYONE,
    schema: z.object({ email: addressSchema }),
    check: () => (sendsMail() ? null : { page: askOperatorPage(app.site), status: 404 }),
    show: (_request, typed) => forgotPage(app.site, typed),
    run: async ({ request, data: { email } }) => {
      const retryAt = await countMail(deps, { email, address: request.ip });
      if (retryAt) return tooManyLinks(retryAt);
      await withMinimumDuration(() => sendEntryLink(deps, auth, email));
      return { page: sentPage(email) };
    },
  });

  app.get('/set-password', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    if (typeof token !== 'string' || !(await userIdOfLink(token))) {
      return sendPage(request, reply, invalidLinkPage(base, sendsMail()), 400);
    }
    return sendPage(request, reply, setPage(base, { values: { token }, errors: {} }));
  });

  formRoute(app, {
    path: '/set-password',
    access: ANYONE,
    schema: setForm,
    secrets: ['password'],
    show: (_request, typed) => setPage(base, typed),
    run: async ({ request, data: { token, password } }) => {
      const userId = await userIdOfLink(token);
      const user = userId ? await deps.users.findOne({ _id: new ObjectId(userId) }) : null;
      const own = user && refuseOwn(password, user);
      if (own) return own;
      try {
        await hashingFor(hashingClientOf(request), () =>
          auth.api.resetPassword({
            body: { token, newPassword: password },
            headers: signInHeaders(request),
          }),
        );
      } catch (error) {
        const code = refusalCode(error);
        request.log.warn({ event: 'account.password_link_refused', address: request.ip, code });
        return code === 'INVALID_TOKEN'
          ? { page: invalidLinkPage(base, sendsMail()), status: 400 }
          : refused(400, t('Could not set this password. Choose another one.'));
      }
      request.log.info({ event: 'account.password_set', address: request.ip });
      if (user) await noteAccountChange(deps, user, 'password');
      return `${base}/sign-in?done=password-set`;
    },
  });

  /** The id of the user whose password a link can set; null if the link is invalid. Does not use up the link. */
  async function userIdOfLink(token: string): Promise<string | null> {
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const { internalAdapter } = await auth.$context;
    const found = await internalAdapter.findVerificationValue(`reset-password:${token}`);
    return found && found.expiresAt > new Date() ? found.value : null;
  }
}

function forgotPage(site: Site, typed: Typed): Page {
  const { base } = site;
  return narrowPage(
    t('Reset your password'),
    html`<p>${t('Enter your e-mail address. We will send you a link to set a new password.')}</p>
      <form method="post" action="${base}/forgot-password" class="card stack">
        ${emailField(typed)}
        <button type="submit">${t('Send link')}</button>
      </form>
      ${contactLine(site)}
      <p><a href="${base}/sign-in">${t('Back to sign-in')}</a></p>`,
  );
}

/** Does not reveal whether an account has the address. */
function sentPage(email: string): Page {
  return narrowPage(
    t('Check your inbox'),
    html`<p>${t(
      'If an account exists for {email}, we have sent a link to it. The link works once and expires in one hour.',
      { email },
    )}</p>
      <p class="soft">${t('No mail? Check your spam folder and the address above.')}</p>`,
  );
}

function askOperatorPage(site: Site): Page {
  return narrowPage(
    t('Reset your password'),
    html`<p>${t('This listing does not send e-mail. Ask its operator for a link to set a new password.')}</p>
      ${contactLine(site)}`,
  );
}

function invalidLinkPage(base: string, sendsMail: boolean): Page {
  return narrowPage(
    t('This link does not work'),
    html`<p>${t(
      'It was already used, it is more than one hour old, the password was changed since, or the link is incomplete.',
    )}</p>
      ${
        sendsMail
          ? html`<p><a class="button" href="${base}/forgot-password">${t('Request a new link')}</a></p>`
          : html`<p>${t('Ask the person who gave it to you for a new link.')}</p>`
      }`,
  );
}

function setPage(base: string, typed: Typed): Page {
  return narrowPage(
    t('Set a password'),
    html`<form method="post" action="${base}/set-password" class="card stack">
        <input type="hidden" name="token" value="${typed.values.token ?? ''}" />
        ${newPasswordField(typed, t('New password'))}
        <button type="submit">${t('Set password')}</button>
        <p class="soft small">${t('All of your sessions will be signed out. Sign in with the new password.')}</p>
      </form>`,
  );
}
