import { randomUUID } from 'node:crypto';
import { makeSignature } from 'better-auth/crypto';
import { ObjectId, type WithId } from 'mongodb';
import { createAuth } from '../../src/accounts/auth.ts';
import type { Credential, SignInSession, User, UserRole } from '../../src/accounts/user.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { CHEAP_PASSWORDS } from './web-app.ts';

/** The password of every account that a test creates. */
export const PASSWORD = 'three ships in the bay';

/** A signed-in user. `headers` contains the session cookie. */
export type SignedInUser = { userId: ObjectId; email: string; headers: { cookie: string } };

type Options = {
  /** `owner` by default. */
  role?: UserRole;
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
  signedUp ??= await signUp(deps);
  const { user, credential, session, at } = signedUp;
  const userId = new ObjectId();
  const token = randomUUID();
  const isOperator = role === 'operator';
  const now = deps.clock.now();
  const hasFactor = isOperator && twoFactor;
  const again = (document: object, changes: object) => ({ ...later(document, Date.now() - at), ...changes });
  await deps.users.insertOne({
    ...again(user, {
      _id: userId,
      name: isOperator ? 'Oscar Operator' : 'Olivia Owner',
      email: email.toLowerCase(),
      role,
      emailVerified: true,
      twoFactorEnabled: hasFactor,
    }),
    ...(days > 0 ? { createdAt: after(now, -days * DAY) } : {}),
  } as User);
  const accountId = userId.toHexString();
  await Promise.all([
    deps.credentials.insertOne(again(credential, { _id: new ObjectId(), userId, accountId }) as Credential),
    deps.sessions.insertOne(
      again(session, {
        _id: new ObjectId(),
        userId,
        token,
        secondFactorAt: hasFactor ? now : null,
      }) as SignInSession,
    ),
  ]);
  await deps.adoptServers(userId);
  return { userId, email, headers: { cookie: await cookieOf(deps, token) } };
}

/** What the sign-in library stores for a new user. */
type SignedUp = {
  user: WithId<User>;
  credential: WithId<Credential>;
  session: WithId<SignInSession>;
  /** When, in milliseconds. */
  at: number;
};

/** The first user of this process. The others get the same documents: ten commands of the library cost 15 ms. */
let signedUp: SignedUp | undefined;

/** Signs a user up with the library, and returns and deletes what it stored. */
async function signUp(deps: AppDeps): Promise<SignedUp> {
  const { users, credentials, sessions } = deps;
  const { response } = await authOf(deps).api.signUpEmail({
    body: { name: 'First', email: `first-${randomUUID()}@example.org`, password: PASSWORD },
    returnHeaders: true,
  });
  // Taken after the sign-up: otherwise the copies would be created in the future.
  const at = Date.now();
  const _id = new ObjectId(response.user.id);
  const user = await users.findOneAndDelete({ _id });
  const credential = await credentials.findOneAndDelete({ userId: _id });
  const session = await sessions.findOneAndDelete({ userId: _id });
  if (!user || !credential || !session) throw new Error('the library has not stored the user');
  return { user, credential, session, at };
}

/** A document with its times moved by `ms`. */
function later(document: object, ms: number): object {
  const moved = Object.entries(document).map(([name, value]) => [
    name,
    value instanceof Date ? after(value, ms) : value,
  ]);
  return Object.fromEntries(moved);
}

/** The name and the key of the session cookie, by what they follow from. */
const cookies = new Map<string, Promise<{ name: string; secret: string }>>();

async function cookieOf(deps: AppDeps, token: string): Promise<string> {
  const { PUBLIC_URL, SECRET_KEY } = deps.config;
  const key = `${PUBLIC_URL} ${SECRET_KEY}`;
  const known =
    cookies.get(key) ??
    authOf(deps).$context.then(({ authCookies, secret }) => ({
      name: authCookies.sessionToken.name,
      secret,
    }));
  cookies.set(key, known);
  const { name, secret } = await known;
  return `${name}=${encodeURIComponent(`${token}.${await makeSignature(token, secret)}`)}`;
}

function authOf(deps: AppDeps) {
  // With mail, signing up would wait for the address to be confirmed.
  const config = { ...deps.config, SMTP_URL: undefined };
  return createAuth({ ...deps, config, passwords: CHEAP_PASSWORDS }, async () => {});
}
