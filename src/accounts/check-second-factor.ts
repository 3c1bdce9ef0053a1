import type { ObjectId } from 'mongodb';
import type { Auth } from './auth.ts';
import type { AccountsDeps } from './deps.ts';
import { APP_CODE, codeUsedError } from './second-factor.ts';
import { markCodeUsed } from './sign-in-limits.ts';

/** The session in which a user enters a code, and the headers of the request as the sign-in library reads them. */
export type SessionOfRequest = { userId: ObjectId; sessionId: ObjectId; headers: Headers };

/**
 * Checks a code of the second factor that a signed-in user entered, marks it as used, and stores the time in the
 * session.
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
