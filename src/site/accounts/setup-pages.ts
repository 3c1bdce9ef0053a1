import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { addressSchema } from '../../accounts/address/change-address.ts';
import { forLibrary } from '../../accounts/library-email.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import {
  type FirstOperator,
  hasOperator,
  isSetupToken,
  makeFirstOperator,
  SETUP_CODES,
} from '../../accounts/setup.ts';
import { RefusedError, SENTENCES } from '../../http/http-errors.ts';
import { defineMessage, t } from '../../language/t.ts';
import { signInHeaders } from '../guard-routes.ts';
import { ANYONE } from '../route-options.ts';
import { giveCookies, hashingClientOf } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type FormAnswer, formRoute } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { copyable, linkTo, notice } from '../shared/parts.ts';
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
import { beginTwoFactor, twoFactorSetUpPage } from './two-factor-setup.ts';

/** The code of a setup link. A script sends it; without scripts, users paste the code or the whole link. */
const codeText = z
  .string()
  .max(2_048)
  .transform((text) => text.trim().replace(/^.*token=/s, ''));

const operatorForm = z.object({
  code: codeText,
  email: addressSchema,
  name: userName,
  password: newPassword,
});

const USELESS = defineMessage(
  'This code does not work. It was already used, it is more than one hour old, a newer one was made, or it is incomplete.',
);

/** `/setup`: a user with a setup link becomes the first operator. Once there is one, all but operators get a 404. */
export function setupPages(app: FastifyInstance, parts: AccountParts): void {
  const { base } = app.site;
  const { deps } = parts;
  const onlyWithoutOperator = async ({ signedIn }: FastifyRequest) => {
    if (!(await hasOperator(deps))) return null;
    // If the new operator opens or reloads the page again: a redirect to the next step.
    if (signedIn?.user.role === 'operator') return `${base}/operator/setup`;
    throw new RefusedError({ status: 404, code: 'not-found', sentence: SENTENCES[404] });
  };

  app.get('/setup', ANYONE, async (request, reply) => {
    const onwards = await onlyWithoutOperator(request);
    if (onwards) return reply.redirect(onwards, 303);
    return sendPage(request, reply, codePage(base, UNTOUCHED));
  });

  formRoute(app, {
    path: '/setup',
    access: ANYONE,
    schema: z.object({ code: codeText }),
    secrets: ['code'],
    check: onlyWithoutOperator,
    show: (_request, typed) => codePage(base, typed),
    run: async ({ request, data: { code } }) =>
      (await refuseCode(parts, request, code)) ?? {
        page: operatorPage(base, { values: { code }, errors: {} }),
      },
  });

  formRoute(app, {
    path: '/setup/operator',
    access: ANYONE,
    schema: operatorForm,
    secrets: ['password'],
    check: onlyWithoutOperator,
    show: (_request, typed) => operatorPage(base, typed),
    run: async ({ request, reply, data: { code, ...entered } }) => {
      const own = refuseOwn(entered.password, entered);
      if (own) return own;
      const useless = await refuseCode(parts, request, code);
      return useless ?? makeOperator(parts, request, reply, { ...entered, token: code });
    },
  });
}

/** Counts an attempt with a code. Returns null if the code is valid. */
async function refuseCode(
  { deps }: AccountParts,
  request: FastifyRequest,
  code: string,
): Promise<FormAnswer | null> {
  const { base } = request.server.site;
  const usedUp = await refuseIfUsedUp(deps, SETUP_CODES, request.ip);
  if (usedUp) return usedUp;
  if (await isSetupToken(deps, code)) return null;
  request.log.warn({ event: 'setup.code_refused', address: request.ip });
  return uselessCode(base);
}

function uselessCode(base: string): FormAnswer {
  const errors = { code: t(USELESS) };
  return { errors, on: codePage(base, { values: {}, errors }) };
}

async function makeOperator(
  parts: AccountParts,
  request: FastifyRequest,
  reply: FastifyReply,
  given: FirstOperator,
): Promise<FormAnswer> {
  const { deps, auth } = parts;
  const { base } = request.server.site;
  const made = await hashingFor(hashingClientOf(request), () => makeFirstOperator(deps, auth, given));
  // If another request created an operator meanwhile, or used up the link: this request created nothing.
  if (made === 'has-operator') return { page: takenPage(base), status: 409 };
  if (made === 'useless-link') return uselessCode(base);
  request.log.info({ event: 'setup.operator_made', userId: made._id.toHexString() });
  try {
    return await enter(parts, request, reply, given);
  } catch (error) {
    // If the sign-in failed: the account exists and the link is used up. So the user continues on the sign-in page.
    request.log.warn({ event: 'setup.sign_in_failed', error: String(error) });
    return `${base}/sign-in?done=operator-made`;
  }
}

async function enter(
  { deps, auth, devices }: AccountParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { email, password }: FirstOperator,
): Promise<FormAnswer> {
  const { base } = request.server.site;
  const { headers, begun } = await hashingFor(hashingClientOf(request), async () => {
    const { headers } = await auth.api.signInEmail({
      body: { email: forLibrary(email), password },
      headers: signInHeaders(request),
      returnHeaders: true,
    });
    return { headers, begun: await beginTwoFactor(auth, inNewSession(request, headers), password) };
  });
  giveCookies(reply, headers);
  reply.header('set-cookie', devices.cookieFor(email));
  const skip = deps.config.OPERATOR_TWO_FACTOR === 'optional' ? `${base}/operator/setup` : undefined;
  return { page: twoFactorSetUpPage(`${base}/account/two-factor`, begun.totpURI, { skip }) };
}

function inNewSession(request: FastifyRequest, given: Headers): Headers {
  const headers = signInHeaders(request);
  const cookies = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
  headers.set('cookie', cookies.join('; '));
  return headers;
}

function codePage(base: string, typed: Typed): Page {
  const who = t(
    'This site has no operator yet. Whoever has a setup link becomes its operator. On the machine of the site, run one of these:',
  );
  const page = narrowPage(
    t('Set up this site'),
    html`<p>${who}</p>
      ${copyable('npm run -s tallyport -- setup-link', t('Command with npm'))}
      ${copyable('docker compose exec web node src/cli.ts setup-link', t('Command with Compose'))}
      <p>${t('Open the link that it prints, or paste the link here.')}</p>
      <form method="post" action="${base}/setup" class="card stack" data-setup-code>
        ${fieldsOf(typed).secret('code', {
          label: t('Setup link or its code'),
          autocapitalize: 'none',
          spellcheck: false,
          required: true,
          hint: t('The code is what follows “token=”. It works once, within an hour.'),
        })}
        <button type="submit">${t('Continue')}</button>
      </form>`,
  );
  return { ...page, scripts: ['setup.js'], hasNoSignIn: true };
}

function operatorPage(base: string, typed: Typed): Page {
  const { code = '' } = typed.values;
  const what = t(
    'This account runs the site. After it, you set up a second factor, and then the site’s name, mail, contact and look.',
  );
  const page = narrowPage(
    t('Make the operator'),
    html`<p>${what}</p>
      <form method="post" action="${base}/setup/operator" class="card stack">
        <input type="hidden" name="code" value="${code}" />
        ${emailField(typed)}
        ${userNameField(typed)}
        ${newPasswordField(typed)}
        <button type="submit">${t('Make the operator')}</button>
      </form>`,
  );
  return { ...page, hasNoSignIn: true };
}

function takenPage(base: string): Page {
  const made = t('The operator was made a moment ago, with this or another link. Nothing was changed now.');
  return narrowPage(
    t('This site has an operator'),
    html`${notice('attention', made)}
      <p>${t('If that was you, <a>sign in</a>.', { a: linkTo(`${base}/sign-in`) })}</p>`,
  );
}
