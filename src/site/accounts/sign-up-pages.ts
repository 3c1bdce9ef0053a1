import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { addressSchema } from '../../accounts/address/change-address.ts';
import { forLibrary } from '../../accounts/library-email.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { otherSites } from '../../accounts/other-sites/other-sites.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { SIGN_UPS } from '../../accounts/sign-in-limits.ts';
import { offerAccount } from '../../accounts/sign-up.ts';
import { makeWithinLimits, networkSignUpsUsed } from '../../accounts/sign-up-limits.ts';
import { t } from '../../language/t.ts';
import { AppError } from '../../platform/app-error.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { signInHeaders } from '../guard-routes.ts';
import { ANYONE } from '../route-options.ts';
import {
  giveCookies,
  hashingClientOf,
  refusalCode,
  tooManyAccounts,
  tooManyLinks,
  withMinimumDuration,
} from '../shared/better-auth-calls.ts';
import { queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { type FormAnswer, formRoute, refused, type SentForm } from '../shared/form-route.ts';
import { type Content, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { nextPage } from '../shared/next-path.ts';
import { linkTo } from '../shared/parts.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import {
  emailField,
  newPassword,
  newPasswordField,
  refuseOwn,
  userName,
  userNameField,
} from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';
import { otherSiteButtons } from './other-site-pages.ts';
import { homeOf, purposeOf } from './sign-in-next.ts';

const addressForm = z.object({ email: addressSchema, next: z.string().max(2_048).optional() });
const signUpForm = addressForm.extend({ name: userName, password: newPassword });

/** If an operator turns mail on or off, the form changes while the process runs. */
type EitherForm = typeof addressForm | typeof signUpForm;

/**
 * `/sign-up`. If the listing sends mail: the form has only the address, and a mailed link leads to the form for name
 * and password (verify-email-pages.ts). Otherwise the form creates the account at once.
 */
export function signUpPages(app: FastifyInstance, parts: AccountParts): void {
  const { base } = app.site;
  const { config } = parts.deps;
  const sendsMail = () => config.SMTP_URL !== undefined;
  const inside = (next: unknown) => nextPage(app, next, '');
  const page = async (next: string, typed: Typed) => {
    const purpose = await purposeOf(parts.deps, base, next);
    const buttons = otherSiteButtons(base, otherSites(config), next);
    return signUpPage({ base, next, purpose, sendsMail: sendsMail(), buttons }, typed);
  };

  app.get('/sign-up', ANYONE, async (request, reply) => {
    const next = inside((request.query as { next?: unknown }).next);
    if (request.signedIn)
      return reply.redirect(next || (await homeOf(parts.deps, base, request.signedIn.user._id)), 303);
    return sendPage(request, reply, await page(next, UNTOUCHED));
  });

  formRoute<EitherForm>(app, {
    path: '/sign-up',
    access: ANYONE,
    schema: () => (sendsMail() ? addressForm : signUpForm),
    secrets: ['password'],
    show: (_request, typed) => page(inside(typed.values.next), typed),
    run: (sent) => {
      const { next: wanted, ...account } = sent.data;
      const next = inside(wanted);
      return 'password' in account
        ? createAccount(parts, sent, account, next)
        : sendLink(parts, sent.request, account.email, next);
    },
  });
}

/** For a listing that sends mail. The answer is the same for every address. */
async function sendLink(
  { deps }: AccountParts,
  request: FastifyRequest,
  email: string,
  next: string,
): Promise<FormAnswer> {
  const usedUp = await networkSignUpsUsed(deps, request.ip);
  if (usedUp) return tooManyAccounts(usedUp);
  const retryAt = await countMail(deps, { email, address: request.ip });
  if (retryAt) return tooManyLinks(retryAt);
  await withMinimumDuration(() => offerAccount(deps, email, next));
  return { page: sentPage(email) };
}

/** For a listing without mail, which cannot confirm the address. */
async function createAccount(
  { deps, auth, devices }: AccountParts,
  { request, reply }: Pick<SentForm<EitherForm>, 'request' | 'reply'>,
  account: { name: string; email: string; password: string },
  next: string,
): Promise<FormAnswer> {
  const { email, password } = account;
  const own = refuseOwn(password, account);
  if (own) return own;
  const usedUp = await refuseIfUsedUp(deps, SIGN_UPS, request.ip);
  if (usedUp) return usedUp;
  const signUp = () =>
    auth.api.signUpEmail({
      body: { ...account, email: forLibrary(email) },
      headers: signInHeaders(request),
      returnHeaders: true,
    });
  try {
    const made = await makeWithinLimits(deps, { email, address: request.ip }, () =>
      hashingFor(hashingClientOf(request), signUp),
    );
    if (made.retryAt) return tooManyAccounts(made.retryAt);
    const { headers, response } = made.result;
    giveCookies(reply, headers);
    reply.header('set-cookie', devices.cookieFor(email));
    request.log.info({ event: 'account.signed_up', userId: response.user.id });
    return next || (await homeOf(deps, request.server.site.base, new ObjectId(response.user.id)));
  } catch (error) {
    return refused(
      409,
      (await isTaken(deps, error, email))
        ? t('An account with this e-mail address already exists. Sign in, or reset your password.')
        : t('Could not create the account. Check your entries.'),
    );
  }
}

const TAKEN = new Set(['USER_ALREADY_EXISTS', 'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL']);

/**
 * Whether a sign-up failed because the address has an account. `FAILED_TO_CREATE_USER` hides every error of the insert:
 * the duplicate key if two sign-ups run at the same time, and errors of MongoDB.
 *
 * @throws {AppError} if the insert failed for another reason
 */
async function isTaken({ users }: AppDeps, error: unknown, email: string): Promise<boolean> {
  const code = refusalCode(error);
  if (code !== 'FAILED_TO_CREATE_USER') return TAKEN.has(code);
  const user = await users.findOne({ email }, { projection: { _id: 1 } });
  if (!user) throw new AppError('the account could not be stored', { cause: error });
  return true;
}

type SignUp = { base: string; next: string; purpose: Content; sendsMail: boolean; buttons: Content };

function signUpPage({ base, next, purpose, sendsMail, buttons }: SignUp, typed: Typed): Page {
  return narrowPage(
    t('Sign up'),
    html`${purpose}
      <form method="post" action="${base}/sign-up" class="card stack">
        <input type="hidden" name="next" value="${next}" />
        ${sendsMail ? '' : userNameField(typed)}
        ${emailField(typed, { hint: sendsMail ? t('We will send you a link to choose your password.') : undefined })}
        ${sendsMail ? '' : newPasswordField(typed)}
        <button type="submit">${t('Sign up')}</button>
      </form>
      ${buttons}
      <p>${t('Have an account? <a>Sign in</a>.', {
        a: linkTo(`${base}/sign-in${queryText({ next })}`),
      })}</p>`,
  );
}

/** Does not reveal whether an account has the address. */
function sentPage(email: string): Page {
  return narrowPage(
    t('Confirm your e-mail address'),
    html`<p>${t('We have sent a link to {email}. Open it to choose your password. It expires in one day.', {
      email,
    })}</p>
      <p class="soft">${t('No mail? Check your spam folder and the address above, or sign up again.')}</p>`,
  );
}
