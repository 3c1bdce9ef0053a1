import { betterAuth } from 'better-auth';
import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins';
import { type Collection, type Db, ObjectId } from 'mongodb';
import { DAY, HOUR, MINUTE, SECOND } from '../clock.ts';
import type { ConnectedConfig } from '../config.ts';
import type { Logger } from '../log.ts';
import { derivedKey } from '../secrets.ts';
import { hashPassword, verifyPassword } from './password.ts';
import type { Person } from './person.ts';
import { createTurnstile } from './turnstile.ts';

/** OWASP's authentication advice where no second factor backs a password up is 15; NIST's least is 8. */
export const PASSWORD_LENGTH = { min: 10, max: 256 } as const;

/** How long a session lasts that nobody uses. */
const SESSION_MS = 14 * DAY;

/** How long a one-time link works. */
export const LINK_MS = HOUR;

/** The header in which a door tells from which address it was asked: the library reads addresses from headers. */
export const ADDRESS_HEADER = 'x-tallyport-address';

/** A link that lets one person do one thing once. `address` is whole: with the path that PUBLIC_URL may have. */
export type OneTimeLink = {
  kind: 'set-password' | 'verify-email';
  person: Pick<Person, 'email' | 'name'>;
  address: string;
};

type AuthSources = {
  config: ConnectedConfig;
  log: Logger;
  mongo: { db: Db };
  people: Collection<Person>;
};

export type Auth = ReturnType<typeof createAuth>;

/**
 * The sign-in library on our database. Doors call `auth.api`; nothing of it is reachable from outside but what
 * the site mounts.
 *
 * @param giveLink - brings a one-time link to its person: by mail, or to whoever asked for it at the command line
 */
export function createAuth(
  { config, log, mongo, people }: AuthSources,
  giveLink: (link: OneTimeLink) => Promise<void>,
) {
  // A password check costs 32 MiB and a third of a second of one core.
  const inTurn = createTurnstile(2, 8);
  const page = (path: string, token: string) =>
    `${config.PUBLIC_URL}${path}?token=${encodeURIComponent(token)}`;

  return betterAuth({
    appName: config.SERVICE_NAME,
    baseURL: new URL(config.PUBLIC_URL).origin,
    basePath: `${config.basePath}/api/auth`,
    // Without `client`: it would begin transactions, which a standalone mongod refuses.
    database: mongodbAdapter(mongo.db),
    secrets: signingSecrets(config),
    telemetry: { enabled: false },
    logger: {
      log: (level, message, ...details) =>
        log[level === 'error' ? 'warn' : 'debug']({ event: 'sign_in.library', message, details }),
    },
    trustedOrigins: [new URL(config.PUBLIC_URL).origin],
    // Ours counts over all web processes, and knows the person (see sign-in-limits.ts).
    rateLimit: { enabled: false },
    user: {
      modelName: 'people',
      additionalFields: {
        role: { type: 'string', input: false, defaultValue: 'owner' },
        suspendedAt: { type: 'date', input: false, required: false },
        wantsMail: { type: 'boolean', input: false, defaultValue: true },
      },
    },
    session: {
      modelName: 'sessions',
      expiresIn: SESSION_MS / SECOND,
      updateAge: DAY / SECOND,
      // A session ends on every process at once: it is looked up with each request.
      cookieCache: { enabled: false },
    },
    account: { modelName: 'credentials', accountLinking: { enabled: true } },
    verification: { modelName: 'verifications', storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      requireEmailVerification: config.SMTP_URL !== undefined,
      resetPasswordTokenExpiresIn: LINK_MS / SECOND,
      // Whoever took over an account is out when its owner sets a new password.
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: (password) => inTurn(() => hashPassword(password)),
        verify: ({ password, hash }) => inTurn(() => verifyPassword(password, hash)),
      },
      sendResetPassword: async ({ user, token }) =>
        giveLink({ kind: 'set-password', person: user, address: page('/set-password', token) }),
    },
    emailVerification: {
      expiresIn: DAY / SECOND,
      sendOnSignUp: config.SMTP_URL !== undefined,
      sendOnSignIn: config.SMTP_URL !== undefined,
      autoSignInAfterVerification: true,
      sendVerificationEmail: async ({ user, token }) =>
        giveLink({ kind: 'verify-email', person: user, address: page('/verify-email', token) }),
    },
    ...(config.DISCORD_CLIENT_ID && config.DISCORD_CLIENT_SECRET
      ? {
          socialProviders: {
            discord: { clientId: config.DISCORD_CLIENT_ID, clientSecret: config.DISCORD_CLIENT_SECRET },
          },
        }
      : {}),
    databaseHooks: {
      session: {
        create: {
          async before({ userId }) {
            const person = await people.findOne({ _id: new ObjectId(userId) });
            if (!person?.suspendedAt) return;
            throw new APIError('FORBIDDEN', { code: 'SUSPENDED', message: 'This account is suspended.' });
          },
        },
      },
    },
    plugins: [
      twoFactor({
        issuer: config.SERVICE_NAME,
        twoFactorTable: 'two_factors',
        twoFactorCookieMaxAge: (10 * MINUTE) / SECOND,
      }),
    ],
    advanced: {
      cookiePrefix: 'tallyport',
      useSecureCookies: config.PUBLIC_URL.startsWith('https:'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: config.basePath || '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
  });
}

/** Under a changed SECRET_KEY what was encrypted under the one before can still be read. */
function signingSecrets({
  SECRET_KEY,
  SECRET_KEY_PREVIOUS,
}: ConnectedConfig): { version: number; value: string }[] {
  return [SECRET_KEY, SECRET_KEY_PREVIOUS]
    .filter((key) => key !== undefined)
    .map((key) => {
      const derived = derivedKey(key, 'signing in');
      // The number names the key in what it encrypted: it must be the same wherever this key stands in the list.
      return {
        version: derivedKey(key, 'number of the sign-in key').readUInt32BE(),
        value: derived.toString('base64'),
      };
    });
}
