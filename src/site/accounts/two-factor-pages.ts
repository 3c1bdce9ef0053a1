import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { mustHaveSecondFactor } from '../../accounts/operator-session.ts';
import { whoIs } from '../../accounts/sessions.ts';
import { countReAuthentication } from '../../accounts/sign-in-limits.ts';
import { endSessions } from '../../accounts/users.ts';
import { defineMessage, t } from '../../language/t.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { signInHeaders, userOf } from '../access.ts';
import { SIGNED_IN } from '../page-route.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { sendPage } from '../shared/layout.ts';
import type { AccountParts } from './account-parts.ts';
import { giveCookies, refusalCode } from './better-auth-calls.ts';
import {
  PROOF_FIELDS,
  passwordAndCodeForm,
  passwordForm,
  withReAuthentication,
} from './re-authentication.ts';
import { backupCodesPage, codePage, offPage, onPage, type SentForm, setUpPage } from './two-factor-views.ts';

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, { error: () => t('Enter the six digits.') })),
});

type Values = { password: string };

/** `/account/two-factor`: the authenticator app and backup codes. Secrets are shown once, in answers to forms. */
export function twoFactorPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const path = `${base}/account/two-factor`;

  const start = (request: FastifyRequest, typed: Typed = UNTOUCHED, sent?: SentForm) =>
    userOf(request).twoFactorEnabled
      ? onPage(path, base, typed, sent)
      : offPage(path, typed, { isRequired: isRequired(request) });

  const isRequired = (request: FastifyRequest) => mustHaveSecondFactor(deps, userOf(request));

  const proof = {
    access: SIGNED_IN,
    schema: (request: FastifyRequest) =>
      userOf(request).twoFactorEnabled ? passwordAndCodeForm : passwordForm,
    secrets: PROOF_FIELDS,
  };

  app.get('/account/two-factor', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, start(request)),
  );

  formRoute(app, {
    ...proof,
    path: '/account/two-factor/begin',
    check: (request) => (userOf(request).twoFactorEnabled ? { page: start(request), status: 409 } : null),
    show: start,
    run: async ({ request, data }) => {
      const { password } = data;
      const begun = await withReAuthentication(request, { deps, auth }, data, () =>
        begin(request, { password }),
      );
      return 'errors' in begun ? begun : { page: setUpPage(path, begun.done.totpURI) };
    },
  });

  formRoute(app, {
    path: '/account/two-factor/confirm',
    access: SIGNED_IN,
    schema: codeForm,
    secrets: ['code'],
    // If it is on, `backup-codes` shows new codes; it needs password and code.
    check: (request) => (userOf(request).twoFactorEnabled ? path : null),
    show: (_request, typed) => codePage(path, typed),
    run: async ({ request, reply, data }) => {
      const user = userOf(request);
      const retryAt = await countReAuthentication(deps, user._id);
      if (retryAt) return refused(429, t('Too many attempts. Wait a few minutes.'), retryAt);
      try {
        const { headers } = await auth.api.verifyTOTP({
          body: data,
          headers: signInHeaders(request),
          returnHeaders: true,
        });
        giveCookies(reply, headers);
        await endOthers(request, headers);
      } catch (error) {
        if (refusalCode(error) === 'TOTP_NOT_ENABLED') return path;
        return { errors: { code: t(WRONG_CODE) } };
      }
      request.log.info({ event: 'account.two_factor_on', userId: user._id.toHexString() });
      await noteAccountChange(deps, user, 'two-factor-on');
      const { backupCodes } = await auth.api.viewBackupCodes({ body: { userId: user._id.toHexString() } });
      const onwards = isRequired(request) ? `${base}/operator` : `${base}/account`;
      return { page: backupCodesPage(backupCodes, onwards, { isNew: true }) };
    },
  });

  formRoute(app, {
    ...proof,
    path: '/account/two-factor/backup-codes',
    show: (request, typed) => start(request, typed, 'backup-codes'),
    run: async ({ request, data }) => {
      const { password } = data;
      const made = await withReAuthentication(request, { deps, auth }, data, () =>
        auth.api.generateBackupCodes({ body: { password }, headers: signInHeaders(request) }),
      );
      if ('errors' in made) return made;
      await noteAccountChange(deps, userOf(request), 'backup-codes');
      return { page: backupCodesPage(made.done.backupCodes, `${base}/account`) };
    },
  });

  formRoute(app, {
    ...proof,
    path: '/account/two-factor/off',
    show: (request, typed) => start(request, typed, 'off'),
    run: async ({ request, reply, data }) => {
      const user = userOf(request);
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

  /** Ends sessions that began with the password alone. */
  async function endOthers(request: FastifyRequest, given: Headers): Promise<void> {
    const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
    const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
    await endSessions(deps, userOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
  }

  async function begin(request: FastifyRequest, body: Values): Promise<{ totpURI: string }> {
    const wanted = { body: { ...body, method: 'totp' as const }, headers: signInHeaders(request) };
    const begun = await auth.api.enableTwoFactor(wanted).catch((error: unknown) => {
      // The form was sent twice: the second secret replaces the first one.
      if (isDuplicateKey(error)) return auth.api.enableTwoFactor(wanted);
      throw error;
    });
    if (begun.method !== 'totp') throw new Error('the sign-in library returned no secret');
    return begun;
  }
}

const WRONG_CODE = defineMessage(
  'The code is wrong. Wait for the next one, and check the clock of your phone.',
);
