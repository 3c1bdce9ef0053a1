import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import { countTry } from '../../accounts/sign-in-limits.ts';
import { shownText } from '../../text.ts';
import { signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withFault } from '../form.ts';
import type { Content } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { nextPath } from '../next-path.ts';
import { ANYONE } from '../page-route.ts';
import { notice, textField } from '../parts.ts';
import type { AccountSources } from './account-pages.ts';
import { discordButton } from './discord.ts';
import { evenly, giveCookies, refusalCode } from './library.ts';

/** What a new password must be, in a form. */
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `A password has at least ${PASSWORD_LENGTH.min} characters.`)
  .max(PASSWORD_LENGTH.max, `A password has at most ${PASSWORD_LENGTH.max} characters.`);

const signUpForm = z.object({
  name: shownText(60),
  email: z.string().trim().max(254, 'must be shorter').pipe(z.email('must be an e-mail address')),
  password: newPassword,
  next: z.string().max(2_048).optional(),
});

/** `/sign-up`: makes a person of the role `owner`. */
export function signUpPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const { SMTP_URL, DISCORD_CLIENT_ID } = platform.config;
  const sendsMail = SMTP_URL !== undefined;
  const inside = (next: unknown) => nextPath(next, base, `${base}/dashboard`);
  const page = (next: string, typed: Typed) =>
    signUpPage({ base, next, otherWay: discordButton(base, DISCORD_CLIENT_ID, next) }, typed);

  app.get('/sign-up', ANYONE, async (request, reply) => {
    const next = inside((request.query as { next?: unknown }).next);
    if (request.signedIn) return reply.redirect(next, 303);
    return sendPage(request, reply, page(next, UNTOUCHED));
  });

  app.post('/sign-up', ANYONE, async (request, reply) => {
    const { data, typed } = readForm(signUpForm, request);
    const next = inside(typed.values.next);
    if (!data) return sendPage(request, reply, page(next, typed), 400);
    const { name, email, password } = data;
    const retryAt = await countTry(platform, { email, address: request.ip });
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
    try {
      const { headers, response } = await evenly(() =>
        auth.api.signUpEmail({
          body: { name, email, password },
          headers: signInHeaders(request),
          returnHeaders: true,
        }),
      );
      if (sendsMail) return sendPage(request, reply, confirmPage(email));
      giveCookies(reply, headers);
      request.log.info({ event: 'account.signed_up', personId: response.user.id });
      return reply.redirect(next, 303);
    } catch (error) {
      const isTaken = TAKEN.has(refusalCode(error));
      // Somebody else was faster by a moment: the page says what it says of every address.
      if (isTaken && sendsMail) return sendPage(request, reply, confirmPage(email));
      const sentence = isTaken
        ? 'There is an account with this address already. Sign in, or set a new password.'
        : 'The account could not be made. Check what you typed.';
      return sendPage(request, reply, page(next, withFault(typed, sentence)), 409);
    }
  });
}

/** Two sign-ups at the same moment: the unique index refuses the later one. */
const TAKEN = new Set([
  'USER_ALREADY_EXISTS',
  'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL',
  'FAILED_TO_CREATE_USER',
]);

function signUpPage(
  { base, next, otherWay }: { base: string; next: string; otherWay: Content },
  { values, faults }: Typed,
): Page {
  return {
    title: 'Sign up',
    width: 'narrow',
    body: html`<h1>Sign up</h1>
      ${faults.form ? notice('bad', faults.form) : ''}
      <form method="post" action="${base}/sign-up" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${textField({ name: 'name', label: 'Your name', autocomplete: 'name', required: true, maxlength: 60, value: values.name ?? '', fault: faults.name, hint: 'Shown with your answers to reviews.' })}
        ${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: 254, value: values.email ?? '', fault: faults.email })}
        ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', required: true, minlength: PASSWORD_LENGTH.min, maxlength: PASSWORD_LENGTH.max, fault: faults.password, hint: `At least ${PASSWORD_LENGTH.min} characters; several words do well.` })}
        <button type="submit">Sign up</button>
      </form>
      ${otherWay}
      <p>Have an account? <a href="${base}/sign-in?next=${encodeURIComponent(next)}">Sign in</a>.</p>`,
  };
}

/** The same whether the address was known or not. */
function confirmPage(email: string): Page {
  return {
    title: 'Confirm your address',
    width: 'narrow',
    body: html`<h1>Confirm your address</h1>
      <p>We have sent a link to ${email}. Open it to go on; it works for a day.</p>
      <p class="soft">Nothing came? Look among the spam, or sign in: the link is sent once more.</p>`,
  };
}
