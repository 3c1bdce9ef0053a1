import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { mustHaveSecondFactor, whoIs } from '../../accounts/sessions.ts';
import { RE_AUTHENTICATIONS } from '../../accounts/sign-in-limits.ts';
import type { User } from '../../accounts/user.ts';
import { endSessions } from '../../accounts/users.ts';
import { defineMessage, t } from '../../language/t.ts';
import { signInHeaders, userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { giveCookies, refusalCode } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { proofForm, SECRET_FIELDS, withReAuthentication } from '../shared/re-authentication.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import type { AccountParts } from './account-parts.ts';
import { beginTwoFactor } from './two-factor-begin.ts';
import {
  backupCodesPage,
  codePage,
  offPage,
  onPage,
  type TwoFactorForm,
  twoFactorSetUpPage,
} from './two-factor-views.ts';

const PATH = '/account/two-factor';

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, { error: () => t('Enter the six digits.') })),
});

/** The options that all forms with a password share. If the second factor is on, the forms also ask for a code. */
const PROOF = {
  access: SIGNED_IN,
  schema: (request: FastifyRequest) => proofForm(userOf(request)),
  secrets: SECRET_FIELDS,
};

type Parts = Pick<AccountParts, 'deps' | 'auth'>;
type Start = (request: FastifyRequest, typed?: Typed, sent?: TwoFactorForm) => Page;

/** `/account/two-factor`: the authenticator app and backup codes. A secret is shown once, in an answer to a form. */
export function twoFactorPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const path = `${base}${PATH}`;

  const start: Start = (request, typed = UNTOUCHED, sent) =>
    userOf(request).twoFactorEnabled
      ? onPage(path, base, typed, sent)
      : offPage(path, typed, { isRequired: mustHaveSecondFactor(deps, userOf(request)) });

  app.get(PATH, SIGNED_IN, async (request, reply) => sendPage(request, reply, start(request)));
  setUpForms(app, { deps, auth }, start);
  formsWhenOn(app, { deps, auth }, start);
}

/** The forms that turn the second factor on: one shows a secret for the app, the next checks a code of the app. */
function setUpForms(app: FastifyInstance, { deps, auth }: Parts, start: Start): void {
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

/** The forms that make new backup codes and that turn the second factor off. */
function formsWhenOn(app: FastifyInstance, { deps, auth }: Parts, start: Start): void {
  const { base } = app.site;

  formRoute(app, {
    ...PROOF,
    path: `${PATH}/backup-codes`,
    show: (request, typed) => start(request, typed, 'backup-codes'),
    run: async ({ request, user, data }) => {
      const { password } = data;
      const made = await withReAuthentication(request, { deps, auth }, data, () =>
        auth.api.generateBackupCodes({ body: { password }, headers: signInHeaders(request) }),
      );
      if ('errors' in made) return made;
      await noteAccountChange(deps, user, 'backup-codes');
      return { page: backupCodesPage(made.done.backupCodes, `${base}/account`) };
    },
  });

  formRoute(app, {
    ...PROOF,
    path: `${PATH}/off`,
    show: (request, typed) => start(request, typed, 'off'),
    run: async ({ request, reply, user, data }) => {
      const { password } = data;
      const ended = await withReAuthentication(request, { deps, auth }, data, () =>
        auth.api.disableTwoFactor({
          body: { password },
          headers: signInHeaders(request),
          returnHeaders: true,
        }),
      );
      if ('errors' in ended) return ended;
      giveCookies(reply, ended.done.headers);
      request.log.info({ event: 'account.two_factor_off', userId: user._id.toHexString() });
      await noteAccountChange(deps, user, 'two-factor-off');
      return `${base}/account?done=two-factor-off`;
    },
  });
}

/** Signs the user out of all other sessions, because these began without the second factor. */
async function endOthers({ deps, auth }: Parts, request: FastifyRequest, given: Headers): Promise<void> {
  const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
  const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
  await endSessions(deps, userOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
}

const WRONG_CODE = defineMessage(
  'The code is wrong. Wait for the next one, and check the clock of your phone.',
);
