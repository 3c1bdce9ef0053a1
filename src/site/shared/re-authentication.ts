import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Auth } from '../../accounts/auth.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { asGivenOut } from '../../accounts/second-factor.ts';
import { checkCodeOnce, type SessionOfRequest } from '../../accounts/sessions.ts';
import { RE_AUTHENTICATIONS } from '../../accounts/sign-in-limits.ts';
import type { User } from '../../accounts/user.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { signInHeaders, userOf } from '../guard-routes.ts';
import { hashingClientOf, refusalCode } from './better-auth-calls.ts';
import type { Typed } from './form.ts';
import { fieldsOf } from './form-fields.ts';
import type { RefusedForm } from './form-route.ts';
import { type Html, html } from './html.ts';
import { linkTo } from './parts.ts';
import { refuseIfUsedUp } from './used-up.ts';

const passwordForm = z.object({
  password: z
    .string()
    .min(1, { error: () => t('Enter your password.') })
    .max(256, { error: () => t('The password is too long.') }),
  code: z
    .unknown()
    .optional()
    .transform(() => undefined),
});

const passwordAndCodeForm = passwordForm.extend({
  code: z
    .string()
    .transform(asGivenOut)
    .pipe(
      z
        .string()
        .min(1, { error: () => t('Enter a code.') })
        .max(32, { error: () => t('The code is too long.') }),
    ),
});

export function proofForm({ twoFactorEnabled }: Pick<User, 'twoFactorEnabled'>) {
  return twoFactorEnabled ? passwordAndCodeForm : passwordForm;
}

/** They stay empty when a refused form is shown again. */
export const SECRET_FIELDS: ('password' | 'code')[] = ['password', 'code'];

export type SignInParts = { deps: AppDeps; auth: Auth };

/**
 * Checks the password, and a code if the second factor is on, before it runs `work`: an open session alone is not
 * enough to take the account over.
 */
export async function withReAuthentication<T>(
  request: FastifyRequest,
  { deps, auth }: SignInParts,
  { password, code }: { password: string; code?: string | undefined },
  work: () => Promise<T>,
): Promise<{ done: T } | RefusedForm> {
  const { _id, email } = userOf(request);
  const usedUp = await refuseIfUsedUp(deps, RE_AUTHENTICATIONS, _id);
  if (usedUp) return usedUp;
  try {
    const done = await hashingFor(hashingClientOf(request, email), async () => {
      await auth.api.verifyPassword({ body: { password }, headers: signInHeaders(request) });
      if (code !== undefined) await checkCodeOnce(deps, auth, sessionOf(request), code);
      return work();
    });
    return { done };
  } catch (error) {
    const reason = refusalCode(error);
    request.log.warn({ event: 'account.proof_refused', address: request.ip, code: reason });
    const refusal = REFUSALS[reason];
    return {
      errors: refusal ? { [refusal.field]: t(refusal.text) } : { password: t('The password is wrong.') },
    };
  }
}

export function noPasswordYet(base: string): Html {
  const sentence = t('You have no password yet. <a>Set one</a> first.', {
    a: linkTo(`${base}/forgot-password`),
  });
  return html`<p class="soft small">${sentence}</p>`;
}

function sessionOf(request: FastifyRequest): SessionOfRequest {
  if (!request.signedIn) throw new Error('this route requires a signed-in user');
  const { user, session } = request.signedIn;
  return { userId: user._id, sessionId: session.id, headers: signInHeaders(request) };
}

/** Every other code means that the password is wrong. */
const REFUSALS: Record<string, { field: 'form' | 'code'; text: Text }> = {
  TOTP_ALREADY_ENABLED: { field: 'form', text: defineMessage('Two-factor authentication is already on.') },
  INVALID_CODE: {
    field: 'code',
    text: defineMessage('The code is wrong. Wait for the next one, or enter a backup code.'),
  },
  INVALID_BACKUP_CODE: {
    field: 'code',
    text: defineMessage('The backup code is wrong or was already used.'),
  },
  CODE_USED: {
    field: 'code',
    text: defineMessage(
      'A code works once, and this one was used already, perhaps to sign in. Wait until your app shows the next one.',
    ),
  },
  CREDENTIAL_ACCOUNT_NOT_FOUND: { field: 'form', text: defineMessage('Set a password first.') },
};

export function passwordField(typed: Typed, id = 'password'): Html {
  return fieldsOf(typed).secret('password', {
    id,
    label: t('Your password'),
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
}

/** `suffix` makes the ids distinct if a page has several such forms. */
export function reAuthenticationFields(
  typed: Typed,
  { twoFactorEnabled }: Pick<User, 'twoFactorEnabled'>,
  suffix = '',
): Html {
  const password = passwordField(typed, `password${suffix}`);
  if (!twoFactorEnabled) return html`${password} `;
  const code = fieldsOf(typed).secret('code', {
    id: `code${suffix}`,
    label: t('Code'),
    autocomplete: 'one-time-code',
    required: true,
    maxlength: 32,
    hint: t(
      'Six digits from your authenticator app, or a backup code. A code works once, also for signing in: then wait for the next one.',
    ),
  });
  return html`${password} ${code}`;
}
