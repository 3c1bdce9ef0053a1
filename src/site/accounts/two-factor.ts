import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { mustHaveSecondFactor } from '../../accounts/operator-session.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { asGivenOut } from '../../accounts/second-factor.ts';
import { whoIs } from '../../accounts/sessions.ts';
import { countProof } from '../../accounts/sign-in-limits.ts';
import { takeCode } from '../../accounts/take-code.ts';
import { endSessions } from '../../accounts/users.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { signInHeaders, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withError } from '../form.ts';
import { type Page, sendPage } from '../layout.ts';
import { SIGNED_IN } from '../page-route.ts';
import type { AccountSources } from './account-sources.ts';
import { giveCookies, hashingClientOf, refusalCode } from './library.ts';
import { backupCodesPage, codePage, offPage, onPage, type SentForm, setUpPage } from './two-factor-pages.ts';

const passwordForm = z.object({
  password: z.string().min(1, 'Enter your password.').max(256, 'The password is too long.'),
  code: z
    .unknown()
    .optional()
    .transform(() => undefined),
});

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, 'Enter the six digits.')),
});

/** Confirms a change when the second factor is on: the password and a code of the app, or a backup code. */
const proofForm = passwordForm.extend({
  code: z
    .string()
    .transform(asGivenOut)
    .pipe(z.string().min(1, 'Enter a code.').max(32, 'The code is too long.')),
});

type Values = { password: string };

/** `/account/two-factor`: the authenticator app and backup codes. Secrets are shown once, in answers to forms. */
export function twoFactorPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const path = `${base}/account/two-factor`;

  const start = (request: FastifyRequest, typed: Typed = UNTOUCHED, sent?: SentForm) =>
    userOf(request).twoFactorEnabled
      ? onPage(path, base, typed, sent)
      : offPage(path, typed, { isRequired: isRequired(request) });

  const isRequired = (request: FastifyRequest) => mustHaveSecondFactor(platform, userOf(request));

  /**
   * Runs `work` after checking the password, and a code if the second factor is on. Someone with a stolen password or an
   * open session must not be able to register their own phone. Otherwise returns the form with its error.
   */
  async function withProof<T>(
    request: FastifyRequest,
    sent: SentForm | undefined,
    work: (values: Values) => Promise<T>,
  ): Promise<{ done: T } | { refused: Page }> {
    const { _id, email, twoFactorEnabled } = userOf(request);
    const { data, typed } = readForm(twoFactorEnabled ? proofForm : passwordForm, request);
    if (!data) return { refused: start(request, typed, sent) };
    const retryAt = await countProof(platform, _id);
    if (retryAt) throw new PageError(429, 'Too many attempts. Wait a few minutes.', retryAt);
    try {
      const { password } = data;
      const done = await hashingFor(hashingClientOf(request, email), async () => {
        await auth.api.verifyPassword({ body: { password }, headers: signInHeaders(request) });
        if (data.code !== undefined) await takeCode(platform, auth, inSession(request), data.code);
        return work({ password });
      });
      return { done };
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.two_factor_refused', address: request.ip, code });
      const sentence = REFUSALS[code] ?? 'The password is wrong.';
      return { refused: start(request, withError(typed, sentence), sent) };
    }
  }

  app.get('/account/two-factor', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, start(request)),
  );

  app.post('/account/two-factor/begin', SIGNED_IN, async (request, reply) => {
    if (userOf(request).twoFactorEnabled) return sendPage(request, reply, start(request), 409);
    const begun = await withProof(request, undefined, (body) => begin(request, body));
    if ('refused' in begun) return sendPage(request, reply, begun.refused, 400);
    return sendPage(request, reply, setUpPage(path, begun.done.totpURI));
  });

  app.post('/account/two-factor/confirm', SIGNED_IN, async (request, reply) => {
    // If it is on, `backup-codes` shows new codes; it needs password and code.
    if (userOf(request).twoFactorEnabled) return reply.redirect(path, 303);
    const { data, typed } = readForm(codeForm, request);
    if (!data) return sendPage(request, reply, codePage(path, typed), 400);
    const retryAt = await countProof(platform, userOf(request)._id);
    if (retryAt) throw new PageError(429, 'Too many attempts. Wait a few minutes.', retryAt);
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
      return sendPage(request, reply, codePage(path, withError(typed, WRONG_CODE)), 400);
    }
    const user = userOf(request);
    request.log.info({ event: 'account.two_factor_on', userId: user._id.toHexString() });
    await noteAccountChange(platform, user, 'two-factor-on');
    const { backupCodes } = await auth.api.viewBackupCodes({ body: { userId: user._id.toHexString() } });
    const onwards = isRequired(request) ? `${base}/operator` : `${base}/account`;
    return sendPage(request, reply, backupCodesPage(backupCodes, onwards, { isNew: true }));
  });

  app.post('/account/two-factor/backup-codes', SIGNED_IN, async (request, reply) => {
    const made = await withProof(request, 'backup-codes', (body) =>
      auth.api.generateBackupCodes({ body, headers: signInHeaders(request) }),
    );
    if ('refused' in made) return sendPage(request, reply, made.refused, 400);
    await noteAccountChange(platform, userOf(request), 'backup-codes');
    return sendPage(request, reply, backupCodesPage(made.done.backupCodes, `${base}/account`));
  });

  app.post('/account/two-factor/off', SIGNED_IN, async (request, reply) => {
    const ended = await withProof(request, 'off', (body) =>
      auth.api.disableTwoFactor({ body, headers: signInHeaders(request), returnHeaders: true }),
    );
    if ('refused' in ended) return sendPage(request, reply, ended.refused, 400);
    giveCookies(reply, ended.done.headers);
    const user = userOf(request);
    request.log.info({ event: 'account.two_factor_off', userId: user._id.toHexString() });
    await noteAccountChange(platform, user, 'two-factor-off');
    return reply.redirect(`${base}/account?done=two-factor-off`, 303);
  });

  /** Ends sessions that began with the password alone. */
  async function endOthers(request: FastifyRequest, given: Headers): Promise<void> {
    const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
    const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
    await endSessions(platform, userOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
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

/** The session in which a user enters a code. */
function inSession(request: FastifyRequest) {
  if (!request.signedIn) throw new Error('this route requires a signed-in user');
  const { user, session } = request.signedIn;
  return { userId: user._id, sessionId: session.id, headers: signInHeaders(request) };
}

const WRONG_CODE = 'The code is wrong. Wait for the next one, and check the clock of your phone.';

const REFUSALS: Record<string, string> = {
  TOTP_ALREADY_ENABLED: 'Two-factor authentication is already on.',
  INVALID_CODE: 'The code is wrong. Wait for the next one, or enter a backup code.',
  INVALID_BACKUP_CODE: 'The backup code is wrong or was already used.',
  CODE_USED: 'That code was already used. Wait for the next one.',
  CREDENTIAL_ACCOUNT_NOT_FOUND: 'Set a password first. Two-factor authentication needs one.',
};
