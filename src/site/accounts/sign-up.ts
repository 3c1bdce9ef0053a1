import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import { isCommonPassword, isOwnPassword } from '../../accounts/common-passwords.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { countLink, countSignUp } from '../../accounts/sign-in-limits.ts';
import { offerAccount } from '../../accounts/sign-up.ts';
import { shownText } from '../../platform/text.ts';
import { signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { nextPath } from '../next-path.ts';
import { ANYONE } from '../page-route.ts';
import { notice, textField } from '../parts.ts';
import type { AccountSources } from './account-sources.ts';
import { discordButton } from './discord.ts';
import { askerOf, evenly, giveCookies, refusalCode, TOO_MANY_LINKS } from './library.ts';

/** What a new password must be, in a form. */
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `A password has at least ${PASSWORD_LENGTH.min} characters.`)
  .max(PASSWORD_LENGTH.max, `A password has at most ${PASSWORD_LENGTH.max} characters.`)
  .refine((password) => !isCommonPassword(password), {
    error: 'Many users use this password, so it is among the first that are tried. Choose another one.',
  });

/** The form with what is wrong with a password that is the user's own address or name; null where it is not. */
export function refuseOwn(
  typed: Typed,
  password: string,
  user: { email: string; name: string },
): Typed | null {
  if (!isOwnPassword(password, user)) return null;
  const sentence =
    'This is your own address or name, so it is among the first that are tried. Choose another one.';
  return { ...typed, errors: { ...typed.errors, password: sentence } };
}

const addressForm = z.object({
  email: z.string().trim().max(254, 'must be shorter').pipe(z.email('must be an e-mail address')),
  next: z.string().max(2_048).optional(),
});

const signUpForm = addressForm.extend({ name: shownText(60), password: newPassword });

/**
 * `/sign-up`: makes a user of the role `owner`. With mail it asks for the address alone and sends a link, where the
 * name and the password are chosen (see verify-email.ts); without, it makes the account at once.
 */
export function signUpPages(app: FastifyInstance, sources: AccountSources): void {
  const { base } = app.site;
  const { SMTP_URL, DISCORD_CLIENT_ID } = sources.platform.config;
  const sendsMail = SMTP_URL !== undefined;
  const inside = (next: unknown) => nextPath(next, base, `${base}/dashboard`);
  const page = (next: string, typed: Typed) =>
    signUpPage({ base, next, sendsMail, otherWay: discordButton(base, DISCORD_CLIENT_ID, next) }, typed);

  app.get('/sign-up', ANYONE, async (request, reply) => {
    const next = inside((request.query as { next?: unknown }).next);
    if (request.signedIn) return reply.redirect(next, 303);
    return sendPage(request, reply, page(next, UNTOUCHED));
  });

  const form = { page, inside };
  app.post('/sign-up', ANYONE, sendsMail ? offering(sources, form) : makingAccounts(sources, form));
}

type Form = { page: (next: string, typed: Typed) => Page; inside: (next: unknown) => string };
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Sends a link to the address, and says the same of every address. */
function offering({ platform }: AccountSources, { page, inside }: Form): Handler {
  return async (request, reply) => {
    const { data, typed } = readForm(addressForm, request);
    if (!data) return sendPage(request, reply, page(inside(typed.values.next), typed), 400);
    const retryAt = await countLink(platform, { email: data.email, address: request.ip });
    if (retryAt) throw new PageError(429, TOO_MANY_LINKS, retryAt);
    await evenly(() => offerAccount(platform, data.email));
    return sendPage(request, reply, sentPage(data.email));
  };
}

/** Makes an account under an address that nobody can confirm. */
function makingAccounts({ platform, auth, devices }: AccountSources, { page, inside }: Form): Handler {
  return async (request, reply) => {
    const { data, typed } = readForm(signUpForm, request);
    const next = inside(typed.values.next);
    if (!data) return sendPage(request, reply, page(next, typed), 400);
    const { name, email, password } = data;
    const refused = refuseOwn(typed, password, data);
    if (refused) return sendPage(request, reply, page(next, refused), 400);
    const retryAt = await countSignUp(platform, request.ip);
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
    try {
      const { headers, response } = await hashingFor(askerOf(request), () =>
        auth.api.signUpEmail({
          body: { name, email, password },
          headers: signInHeaders(request),
          returnHeaders: true,
        }),
      );
      giveCookies(reply, headers);
      reply.header('set-cookie', devices.cookieFor(email));
      request.log.info({ event: 'account.signed_up', userId: response.user.id });
      return reply.redirect(next, 303);
    } catch (error) {
      const sentence = TAKEN.has(refusalCode(error))
        ? 'There is an account with this address already. Sign in, or set a new password.'
        : 'The account could not be made. Check what you typed.';
      return sendPage(request, reply, page(next, withError(typed, sentence)), 409);
    }
  };
}

/** Two sign-ups at the same moment: the unique index refuses the later one. */
const TAKEN = new Set([
  'USER_ALREADY_EXISTS',
  'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL',
  'FAILED_TO_CREATE_USER',
]);

type SignUp = { base: string; next: string; sendsMail: boolean; otherWay: Content };

function signUpPage({ base, next, sendsMail, otherWay }: SignUp, { values, errors }: Typed): Page {
  return {
    title: 'Sign up',
    width: 'narrow',
    body: html`<h1>Sign up</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${base}/sign-up" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${sendsMail ? '' : nameField({ values, errors })}
        ${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: 254, value: values.email ?? '', error: errors.email, hint: sendsMail ? 'We send a link there, and you choose your password behind it.' : undefined })}
        ${sendsMail ? '' : newPasswordField({ values, errors })}
        <button type="submit">Sign up</button>
      </form>
      ${otherWay}
      <p>Have an account? <a href="${base}/sign-in?next=${encodeURIComponent(next)}">Sign in</a>.</p>`,
  };
}

/** A user's name, in a form. */
export function nameField({ values, errors }: Typed): Html {
  return textField({
    name: 'name',
    label: 'Your name',
    autocomplete: 'name',
    required: true,
    maxlength: 60,
    value: values.name ?? '',
    error: errors.name,
    hint: 'Shown with your answers to reviews.',
  });
}

/** A password that is chosen, in a form. */
export function newPasswordField({ errors }: Typed, label = 'Password'): Html {
  return textField({
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    minlength: PASSWORD_LENGTH.min,
    maxlength: PASSWORD_LENGTH.max,
    error: errors.password,
    hint: `At least ${PASSWORD_LENGTH.min} characters; several words do well.`,
  });
}

/** The same whether the address was known or not. */
function sentPage(email: string): Page {
  return {
    title: 'Confirm your address',
    width: 'narrow',
    body: html`<h1>Confirm your address</h1>
      <p>We have sent a link to ${email}. Open it to choose your password; it works for a day.</p>
      <p class="soft">Nothing came? Look among the spam, check the address above for a slip, or sign up once more.</p>`,
  };
}
