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
import { askerOf, giveCookies, refusalCode } from './library.ts';
import { backupCodesPage, codePage, offPage, onPage, type SentForm, setUpPage } from './two-factor-pages.ts';

const passwordForm = z.object({
  password: z.string().min(1, 'Enter your password.').max(256, 'That is too long for a password.'),
  code: z
    .unknown()
    .optional()
    .transform(() => undefined),
});

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, 'A code has six digits.')),
});

/** What is asked for where a second factor is on: a code of the app, or a backup code where the phone is lost. */
const proofForm = passwordForm.extend({
  code: z
    .string()
    .transform(asGivenOut)
    .pipe(z.string().min(1, 'Enter a code.').max(32, 'That is too long for a code.')),
});

type Values = { password: string };

/** `/account/two-factor`: an authenticator app and backup codes. Secrets are shown once, in answers to forms. */
export function twoFactorPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const path = `${base}/account/two-factor`;

  const start = (request: FastifyRequest, typed: Typed = UNTOUCHED, sent?: SentForm) =>
    userOf(request).twoFactorEnabled
      ? onPage(path, base, typed, sent)
      : offPage(path, typed, { isDemanded: isDemanded(request) });

  const isDemanded = (request: FastifyRequest) => mustHaveSecondFactor(platform, userOf(request));

  /**
   * Does what needs the password, and a code where a second factor is on: whoever found out the password, or sits at an
   * open session, must not put their own phone in the place of the user's. The form that was sent is shown again, with
   * why, where it is not right.
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
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
    try {
      const { password } = data;
      const done = await hashingFor(askerOf(request, email), async () => {
        await auth.api.verifyPassword({ body: { password }, headers: signInHeaders(request) });
        if (data.code !== undefined) await takeCode(platform, auth, inSession(request), data.code);
        return work({ password });
      });
      return { done };
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.two_factor_refused', address: request.ip, code });
      const sentence = REFUSALS[code] ?? 'That is not your password.';
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
    // Where it is on, backup codes are shown for password and code together (see `backup-codes`).
    if (userOf(request).twoFactorEnabled) return reply.redirect(path, 303);
    const { data, typed } = readForm(codeForm, request);
    if (!data) return sendPage(request, reply, codePage(path, typed), 400);
    const retryAt = await countProof(platform, userOf(request)._id);
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
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
    const onwards = isDemanded(request) ? `${base}/operator` : `${base}/account`;
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

  /** Sessions that began with the password alone must not pass for ones with a second factor. */
  async function endOthers(request: FastifyRequest, given: Headers): Promise<void> {
    const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
    const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
    await endSessions(platform, userOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
  }

  async function begin(request: FastifyRequest, body: Values): Promise<{ totpURI: string }> {
    const asked = { body: { ...body, method: 'totp' as const }, headers: signInHeaders(request) };
    const begun = await auth.api.enableTwoFactor(asked).catch((error: unknown) => {
      // The button was pressed twice: the second secret takes the first one's place.
      if (isDuplicateKey(error)) return auth.api.enableTwoFactor(asked);
      throw error;
    });
    if (begun.method !== 'totp') throw new Error('the sign-in library made no secret');
    return begun;
  }
}

/** Where somebody who is signed in gives a code. */
function inSession(request: FastifyRequest) {
  if (!request.signedIn) throw new Error('a stranger on a route that is not for anyone');
  const { user, session } = request.signedIn;
  return { userId: user._id, sessionId: session.id, headers: signInHeaders(request) };
}

const WRONG_CODE =
  'That code is not right. Wait for the next one, and check that your phone’s clock is right.';

const REFUSALS: Record<string, string> = {
  TOTP_ALREADY_ENABLED: 'Your second factor is on already.',
  INVALID_CODE: 'That code is not right. Wait for the next one, or enter a backup code.',
  INVALID_BACKUP_CODE: 'That is not one of your backup codes, or it was used already.',
  CODE_USED: 'That code was used already. Wait for the next one.',
  CREDENTIAL_ACCOUNT_NOT_FOUND: 'Set a password first: the second factor stands beside it.',
};
