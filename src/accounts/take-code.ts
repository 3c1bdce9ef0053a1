import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import type { RateLimit } from '../platform/limits/rate-limit.ts';
import type { Auth } from './auth.ts';
import { APP_CODE, codeUsedError } from './second-factor.ts';
import { markCodeUsed } from './sign-in-limits.ts';
import type { SignInSession } from './user.ts';

type TakeCodeDeps = {
  sessions: Collection<SignInSession>;
  rateLimits: Collection<RateLimit>;
  clock: Clock;
};

/** The session in which the user enters a code. */
type InSession = { userId: ObjectId; sessionId: ObjectId; headers: Headers };

/**
 * Checks a code of the second factor that a signed-in user entered, marks it as used, and stores the time in the
 * session.
 *
 * @param headers - of the request, as the sign-in library reads them
 * @throws {APIError} of the sign-in library when the code is wrong or was used before
 */
export async function takeCode(
  { sessions, clock, ...limits }: TakeCodeDeps,
  auth: Auth,
  { userId, sessionId, headers }: InSession,
  code: string,
): Promise<void> {
  if (APP_CODE.test(code)) {
    await auth.api.verifyTOTP({ body: { code }, headers });
    if (await markCodeUsed({ ...limits, clock }, userId, code)) throw codeUsedError();
  } else {
    await auth.api.verifyBackupCode({ body: { code, disableSession: true }, headers });
  }
  await sessions.updateOne({ _id: sessionId }, { $set: { secondFactorAt: clock.now() } });
}
