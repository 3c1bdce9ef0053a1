import type { FastifyInstance, FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import type { Auth } from '../../accounts/auth.ts';
import { whoIs } from '../../accounts/sessions.ts';
import { RE_AUTHENTICATIONS } from '../../accounts/sign-in-limits.ts';
import type { User } from '../../accounts/user.ts';
import { endSessions } from '../../accounts/users.ts';
import { defineMessage, t } from '../../language/t.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { signInHeaders, userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { giveCookies, refusalCode } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Html, html, raw } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { copyable, linkTo, notice } from '../shared/parts.ts';
import { proofForm, SECRET_FIELDS, withReAuthentication } from '../shared/re-authentication.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import type { AccountParts } from './account-parts.ts';

export const PATH = '/account/two-factor';

/** The options that all forms with a password share. If the second factor is on, the forms also ask for a code. */
export const PROOF = {
  access: SIGNED_IN,
  schema: (request: FastifyRequest) => proofForm(userOf(request)),
  secrets: SECRET_FIELDS,
};

type Parts = Pick<AccountParts, 'deps' | 'auth'>;

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, { error: () => t('Enter the six digits.') })),
});

const WRONG_CODE = defineMessage(
  'The code is wrong. Wait for the next one, and check the clock of your phone.',
);

export function setUpForms(
  app: FastifyInstance,
  { deps, auth }: Parts,
  start: (request: FastifyRequest, typed?: Typed) => Page,
): void {
  const { base } = app.site;
  const path = `${base}${PATH}`;

  formRoute(app, {
    ...PROOF,
    path: `${PATH}/begin`,
    check: (request) => (userOf(request).twoFactorEnabled ? { page: start(request), status: 409 } : null),
    show: start,
    run: async ({ request, data }) => {
      const begun = await withReAuthentication(request, { deps, auth }, data, () =>
        beginTwoFactor(auth, signInHeaders(request), data.password),
      );
      return 'errors' in begun ? begun : { page: twoFactorSetUpPage(path, begun.done.totpURI) };
    },
  });

  formRoute(app, {
    path: `${PATH}/confirm`,
    access: SIGNED_IN,
    schema: codeForm,
    secrets: ['code'],
    // Without this check, a right code alone would show the backup codes. The other forms also need the password.
    check: (request) => (userOf(request).twoFactorEnabled ? path : null),
    show: (_request, typed) => codePage(path, typed),
    run: async ({ request, reply, user, data }) => {
      const usedUp = await refuseIfUsedUp(deps, RE_AUTHENTICATIONS, user._id);
      if (usedUp) return usedUp;
      try {
        const { headers } = await auth.api.verifyTOTP({
          body: data,
          headers: signInHeaders(request),
          returnHeaders: true,
        });
        giveCookies(reply, headers);
        await endOthers({ deps, auth }, request, headers);
      } catch (error) {
        if (refusalCode(error) === 'TOTP_NOT_ENABLED') return path;
        return { errors: { code: t(WRONG_CODE) } };
      }
      request.log.info({ event: 'account.two_factor_on', userId: user._id.toHexString() });
      await noteAccountChange(deps, user, 'two-factor-on');
      const { backupCodes } = await auth.api.viewBackupCodes({ body: { userId: user._id.toHexString() } });
      return { page: backupCodesPage(backupCodes, await onwardsFrom(deps, base, user), { isNew: true }) };
    },
  });
}

/** The page after the second factor was turned on. For operators of a site without servers it is the set-up. */
async function onwardsFrom(deps: Parts['deps'], base: string, user: User): Promise<string> {
  if (user.role !== 'operator') return `${base}/account`;
  const server = await deps.servers.findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } });
  return server ? `${base}/operator` : `${base}/operator/setup`;
}

/** Signs the user out of all other sessions, because these began without the second factor. */
async function endOthers({ deps, auth }: Parts, request: FastifyRequest, given: Headers): Promise<void> {
  const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
  const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
  await endSessions(deps, userOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
}

/**
 * Creates a secret for the user's authenticator app. `headers`: those of a session (`signInHeaders`).
 *
 * @throws {APIError} of the sign-in library, such as for a wrong password
 */
export async function beginTwoFactor(
  auth: Auth,
  headers: Headers,
  password: string,
): Promise<{ totpURI: string }> {
  const wanted = { body: { password, method: 'totp' as const }, headers };
  const begun = await auth.api.enableTwoFactor(wanted).catch((error: unknown) => {
    // If the form was sent twice at the same time: try again, so that the second secret replaces the first one.
    if (isDuplicateKey(error)) return auth.api.enableTwoFactor(wanted);
    throw error;
  });
  if (begun.method !== 'totp') throw new Error('the sign-in library returned no secret');
  return begun;
}

/** `skip`: the link for users who want no second factor now. */
export function twoFactorSetUpPage(
  path: string,
  totpUri: string,
  { skip }: { skip?: string | undefined } = {},
): Page {
  const secret = new URL(totpUri).searchParams.get('secret') ?? '';
  return narrowPage(
    t('Set up two-factor authentication'),
    html`<section class="card stack">
        <h2>${t('1. Scan this code with your app')}</h2>
        <div class="qr" role="img" aria-label="${t('QR code for your authenticator app')}">${qrCode(totpUri)}</div>
        <p>${t('Or enter this secret in the app:')}</p>
        ${copyable(inGroups(secret), t('Secret'))}
      </section>
      <section class="card stack">
        <h2>${t('2. Enter the code from your app')}</h2>
        ${codePart(path, UNTOUCHED)}
      </section>
      <p class="soft">${t(
        'The code and the secret are shown only once. Two-factor authentication is on after you enter a correct code.',
      )}</p>
      ${skip ? html`<p><a href="${skip}">${t('Continue without a second factor')}</a></p>` : ''}`,
  );
}

/** The page after a wrong first code. It does not show the secret again. */
function codePage(path: string, typed: Typed): Page {
  return narrowPage(
    t('Set up two-factor authentication'),
    html`<section class="card stack">${codePart(path, typed)}</section>
      <p>${t('App not set up yet? <a>Start over</a>.', { a: linkTo(path) })}</p>`,
  );
}

function codePart(path: string, typed: Typed): Html {
  return html`<form method="post" action="${path}/confirm" class="stack">
    ${fieldsOf(typed).secret('code', {
      label: t('Code'),
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      required: true,
      hint: t('Six digits.'),
    })}
    <button type="submit">${t('Turn on')}</button>
  </form>`;
}

/** `isNew`: whether the second factor was just turned on. */
export function backupCodesPage(codes: string[], onwards: string, { isNew = false } = {}): Page {
  const done = isNew ? t('Two-factor authentication is on.') : t('The old backup codes no longer work.');
  const advice = t(
    'Print these codes or save them in your password manager, not on the same phone. Each code signs you in once if you cannot use your app. They are shown only once.',
  );
  return narrowPage(
    t('Backup codes'),
    html`${notice('good', done)}
      <section class="card stack">
        <p>${advice}</p>
        ${copyable(codes.join('\n'), t('Backup codes'))}
        <a class="button" href="${onwards}">${t('I have saved them')}</a>
      </section>`,
  );
}

/** A QR code as SVG. It is black on white in both colour schemes, because QR readers need that. */
function qrCode(text: string): Html {
  return raw(renderSVG(text, { border: 2 })) as Html;
}

/** The secret in groups of four characters, which are easier to read and type. Apps ignore the spaces. */
function inGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
