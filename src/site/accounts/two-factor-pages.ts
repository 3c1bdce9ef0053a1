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
import { PageError } from '../error-pages.ts';
import { SIGNED_IN } from '../page-route.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../shared/form.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { AccountParts } from './account-parts.ts';
import { giveCookies, refusalCode } from './better-auth-calls.ts';
import { passwordAndCodeForm, passwordForm, withReAuthentication } from './re-authentication.ts';
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

  /** Runs `work` with a proof of identity (see proof.ts). Otherwise returns the form with its error. */
  async function proven<T>(
    request: FastifyRequest,
    sent: SentForm | undefined,
    work: (values: Values) => Promise<T>,
  ): Promise<{ done: T } | { refused: Page }> {
    const form = userOf(request).twoFactorEnabled ? passwordAndCodeForm : passwordForm;
    const { data, typed } = readForm(form, request);
    if (!data) return { refused: start(request, typed, sent) };
    const { password } = data;
    const proof = await withReAuthentication(request, { deps, auth }, data, () => work({ password }));
    return 'done' in proof ? proof : { refused: start(request, withError(typed, proof.refused), sent) };
  }

  app.get('/account/two-factor', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, start(request)),
  );

  app.post('/account/two-factor/begin', SIGNED_IN, async (request, reply) => {
    if (userOf(request).twoFactorEnabled) return sendPage(request, reply, start(request), 409);
    const begun = await proven(request, undefined, (body) => begin(request, body));
    if ('refused' in begun) return sendPage(request, reply, begun.refused, 400);
    return sendPage(request, reply, setUpPage(path, begun.done.totpURI));
  });

  app.post('/account/two-factor/confirm', SIGNED_IN, async (request, reply) => {
    // If it is on, `backup-codes` shows new codes; it needs password and code.
    if (userOf(request).twoFactorEnabled) return reply.redirect(path, 303);
    const { data, typed } = readForm(codeForm, request);
    if (!data) return sendPage(request, reply, codePage(path, typed), 400);
    const retryAt = await countReAuthentication(deps, userOf(request)._id);
    if (retryAt) throw new PageError(429, t('Too many attempts. Wait a few minutes.'), retryAt);
    try {
      const { headers } = await auth.api.verifyTOTP({
        body: data,
        headers: signInHeaders(request),
        returnHeaders: true,
      });
      giveCookies(reply, headers);
      await endOthers(request, headers);
    } catch (error) {
      const code = refusalCode(error);
      if (code === 'TOTP_NOT_ENABLED') return reply.redirect(path, 303);
      return sendPage(request, reply, codePage(path, withError(typed, t(WRONG_CODE))), 400);
    }
    const user = userOf(request);
    request.log.info({ event: 'account.two_factor_on', userId: user._id.toHexString() });
    await noteAccountChange(deps, user, 'two-factor-on');
    const { backupCodes } = await auth.api.viewBackupCodes({ body: { userId: user._id.toHexString() } });
    const onwards = isRequired(request) ? `${base}/operator` : `${base}/account`;
    return sendPage(request, reply, backupCodesPage(backupCodes, onwards, { isNew: true }));
  });

  app.post('/account/two-factor/backup-codes', SIGNED_IN, async (request, reply) => {
    const made = await proven(request, 'backup-codes', (body) =>
      auth.api.generateBackupCodes({ body, headers: signInHeaders(request) }),
    );
    if ('refused' in made) return sendPage(request, reply, made.refused, 400);
    await noteAccountChange(deps, userOf(request), 'backup-codes');
    return sendPage(request, reply, backupCodesPage(made.done.backupCodes, `${base}/account`));
  });

  app.post('/account/two-factor/off', SIGNED_IN, async (request, reply) => {
    const ended = await proven(request, 'off', (body) =>
      auth.api.disableTwoFactor({ body, headers: signInHeaders(request), returnHeaders: true }),
    );
    if ('refused' in ended) return sendPage(request, reply, ended.refused, 400);
    giveCookies(reply, ended.done.headers);
    const user = userOf(request);
    request.log.info({ event: 'account.two_factor_off', userId: user._id.toHexString() });
    await noteAccountChange(deps, user, 'two-factor-off');
    return reply.redirect(`${base}/account?done=two-factor-off`, 303);
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
