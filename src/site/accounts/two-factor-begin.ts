import type { Auth } from '../../accounts/auth.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';

/**
 * Creates a secret for the user's authenticator app. The second factor is on after the first right code.
 *
 * @param headers - the headers that the sign-in library reads (`signInHeaders`), with a session
 * @throws {APIError} of the sign-in library, such as for a wrong password
 */
export async function beginTwoFactor(
  auth: Auth,
  headers: Headers,
  password: string,
): Promise<{ totpURI: string }> {
  const wanted = { body: { password, method: 'totp' as const }, headers };
  const begun = await auth.api.enableTwoFactor(wanted).catch((error: unknown) => {
    // If the form was sent twice at the same time: try again, so that the second secret replaces the first one.
    if (isDuplicateKey(error)) return auth.api.enableTwoFactor(wanted);
    throw error;
  });
  if (begun.method !== 'totp') throw new Error('the sign-in library returned no secret');
  return begun;
}
