import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { createAuth } from '../../src/accounts/auth.ts';
import type { Role } from '../../src/accounts/user.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { CHEAP_PASSWORDS } from './web-app.ts';

/** The password of every account that a test creates. */
export const PASSWORD = 'three ships in the bay';

/** A signed-in user. `headers` contains the session cookie. */
export type SignedInUser = { userId: ObjectId; email: string; headers: { cookie: string } };

type Options = {
  /** `owner` by default. */
  role?: Role;
  email?: string;
  /** Whether an operator has a second factor: true by default. */
  twoFactor?: boolean;
  /** How many days ago the account was created: 0 by default. From 7 days on, it is established. */
  days?: number;
};

/** Creates a user with a confirmed address and signs them in, without a request to the application. */
export async function signIn(
  { deps }: { deps: AppDeps },
  { role = 'owner', email = `${role}-${randomUUID()}@example.org`, twoFactor = true, days = 0 }: Options = {},
): Promise<SignedInUser> {
  // Without mail, because with mail a sign-up waits until the address is confirmed.
  const config = { ...deps.config, SMTP_URL: undefined };
  const auth = createAuth({ ...deps, config, passwords: CHEAP_PASSWORDS }, async () => {});
  const { headers, response } = await auth.api.signUpEmail({
    body: { name: role === 'owner' ? 'Olivia Owner' : 'Oscar Operator', email, password: PASSWORD },
    returnHeaders: true,
  });
  const userId = new ObjectId(response.user.id);
  await deps.users.updateOne(
    { _id: userId },
    {
      $set: {
        role,
        emailVerified: true,
        twoFactorEnabled: role === 'operator' && twoFactor,
        ...(days > 0 ? { createdAt: after(deps.clock.now(), -days * DAY) } : {}),
      },
    },
  );
  const secondFactorAt = role === 'operator' && twoFactor ? deps.clock.now() : null;
  await deps.sessions.updateMany({ userId: userId }, { $set: { secondFactorAt } });
  const cookie = headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return { userId, email, headers: { cookie } };
}
