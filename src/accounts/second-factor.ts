import { APIError } from 'better-auth/api';
import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../clock.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { Auth } from './auth.ts';
import type { SignInSession } from './person.ts';
import { isCodeUsed } from './sign-in-limits.ts';

/** A code of an authenticator app; anything else is a backup code, kept for the day the phone is lost. */
export const APP_CODE = /^\d{6}$/;

type Sources = {
  sessions: Collection<SignInSession>;
  rateLimits: Collection<RateLimit>;
  clock: Clock;
};

/** The session in which a code is given. */
type InSession = { personId: ObjectId; sessionId: ObjectId; headers: Headers };

/**
 * Takes a code of the second factor from somebody who is signed in, uses it up, and keeps in the session when it was
 * given.
 *
 * @param headers - of the request, as the sign-in library reads them
 * @throws {APIError} of the sign-in library when the code is wrong or was used before
 */
export async function takeCode(
  { sessions, clock, ...limits }: Sources,
  auth: Auth,
  { personId, sessionId, headers }: InSession,
  code: string,
): Promise<void> {
  if (APP_CODE.test(code)) {
    await auth.api.verifyTOTP({ body: { code }, headers });
    if (await isCodeUsed({ ...limits, clock }, personId, code)) throw codeUsedError();
  } else {
    await auth.api.verifyBackupCode({ body: { code, disableSession: true }, headers });
  }
  await sessions.updateOne({ _id: sessionId }, { $set: { secondFactorAt: clock.now() } });
}

/** A code works for a minute or so: whoever looked over a shoulder must not use it again. */
export function codeUsedError(): APIError {
  return new APIError('UNAUTHORIZED', { code: 'CODE_USED', message: 'This code was used before.' });
}
