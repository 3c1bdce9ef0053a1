import { ObjectId } from 'mongodb';
import { type Clock, HOUR } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Auth } from './auth.ts';
import type { AccountsDeps } from './deps.ts';
import { withCause } from './library-cause.ts';
import { APP_CODE, codeUsedError } from './second-factor.ts';
import { markCodeUsed } from './sign-in-limits.ts';
import type { User } from './user.ts';

export type SignedIn = {
  user: User;
  session: {
    id: ObjectId;
    token: string;
    createdAt: Date;
    expiresAt: Date;
    /** When the user last entered a code of the second factor in this session; null if never. */
    secondFactorAt: Date | null;
  };
};

/** `signedIn` is null if there is no session or the user is suspended. `cookies` must be set in the response. */
export async function whoIs(
  auth: Auth,
  headers: Headers,
): Promise<{ signedIn: SignedIn | null; cookies: string[] }> {
  const found = await withCause(() => auth.api.getSession({ headers, returnHeaders: true }));
  const cookies = found.headers.getSetCookie();
  if (!found.response) return { signedIn: null, cookies };
  const { user, session } = found.response;
  if (user.suspendedAt) return { signedIn: null, cookies };
  const { id, ...rest } = user;
  return {
    signedIn: {
      user: { ...rest, _id: new ObjectId(id) } as User,
      session: {
        id: new ObjectId(session.id),
        token: session.token,
        createdAt: session.createdAt,
        expiresAt: session.expiresAt,
        secondFactorAt: session.secondFactorAt ?? null,
      },
    },
    cookies,
  };
}

/** To use the admin area after this time, an operator must sign in again, with a code if they have a second factor. */
const OPERATOR_SESSION_MS = 12 * HOUR;

type Rule = { config: Pick<Config, 'OPERATOR_TWO_FACTOR'>; clock: Clock };

export function mustHaveSecondFactor({ config }: Pick<Rule, 'config'>, { role }: Pick<User, 'role'>) {
  return role === 'operator' && config.OPERATOR_TWO_FACTOR === 'required';
}

export function lacksSecondFactor(
  rule: Pick<Rule, 'config'>,
  user: Pick<User, 'role' | 'twoFactorEnabled'>,
): boolean {
  return mustHaveSecondFactor(rule, user) && !user.twoFactorEnabled;
}

/** With a second factor, the last code must be recent too: a password change starts a new session without a code. */
export function isFreshSession({ clock }: Pick<Rule, 'clock'>, { user, session }: SignedIn): boolean {
  const proofs = user.twoFactorEnabled ? [session.createdAt, session.secondFactorAt] : [session.createdAt];
  return proofs.every((at) => at !== null && clock.now().getTime() - at.getTime() <= OPERATOR_SESSION_MS);
}

/** The role alone is not enough: without this, a session gives access to the operator's own servers only. */
export function mayActAsOperator(rule: Rule, signedIn: SignedIn): boolean {
  return (
    signedIn.user.role === 'operator' &&
    !lacksSecondFactor(rule, signedIn.user) &&
    isFreshSession(rule, signedIn)
  );
}

export type SessionOfRequest = { userId: ObjectId; sessionId: ObjectId; headers: Headers };

/**
 * Checks a code of the second factor, which works once, and stores the time in the session.
 *
 * @throws {APIError} of the sign-in library when the code is wrong or was used before
 */
export async function checkCodeOnce(
  deps: AccountsDeps,
  auth: Auth,
  { userId, sessionId, headers }: SessionOfRequest,
  code: string,
): Promise<void> {
  if (APP_CODE.test(code)) {
    await auth.api.verifyTOTP({ body: { code }, headers });
    if (await markCodeUsed(deps, userId, code)) throw codeUsedError();
  } else {
    await auth.api.verifyBackupCode({ body: { code, disableSession: true }, headers });
  }
  const secondFactorAt = deps.clock.now();
  await deps.sessions.updateOne({ _id: sessionId }, { $set: { secondFactorAt } });
}
