import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { betterAuth } from 'better-auth/minimal';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { type Collection, type Db, ObjectId } from 'mongodb';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { RateLimit } from '../platform/limits/rate-limit.ts';
import type { Logger } from '../platform/log.ts';
import { derivedKey } from '../platform/secrets.ts';
import { noteCause } from './library-cause.ts';
import type { OneTimeLink } from './one-time-link.ts';
import type { PasswordHashing } from './password.ts';
import { createPasswordSlots } from './password-slots.ts';
import { codeUsedError, makeBackupCodes } from './second-factor.ts';
import { isCodeUsed, wasCodeUsed } from './sign-in-limits.ts';
import type { Credential, SecondFactor, SignInSession, User, Verification } from './user.ts';
import { takeEntryAway } from './users.ts';

/** OWASP's authentication advice where no second factor backs a password up is 15; NIST's least is 8. */
export const PASSWORD_LENGTH = { min: 10, max: 256 } as const;

/** How long a session lasts that nobody uses. */
const SESSION_MS = 14 * DAY;

/** How long a one-time link works. */
const LINK_MS = HOUR;

/** The header in which a door tells from which address it was asked: the library reads addresses from headers. */
export const ADDRESS_HEADER = 'x-tallyport-address';

export type AuthSources = {
  config: ConnectedConfig;
  log: Logger;
  clock: Clock;
  passwords: PasswordHashing;
  mongo: { db: Db };
  users: Collection<User>;
  verifications: Collection<Verification>;
  credentials: Collection<Credential>;
  sessions: Collection<SignInSession>;
  twoFactors: Collection<SecondFactor>;
  /** Gives a person who signs up or in the imported servers that wait for their address; never rejects. */
  claimServers: (userId: ObjectId) => Promise<void>;
  auditLog: Collection<AuditEntry>;
  rateLimits: Collection<RateLimit>;
};

export type Auth = ReturnType<typeof createAuth>;

/**
 * The sign-in library on our database. Doors call `auth.api`; nothing of it is reachable from outside but what
 * the site mounts.
 *
 * @param giveLink - brings a one-time link to its user: by mail, or to whoever asked for it at the command line
 */
export function createAuth(sources: AuthSources, giveLink: (link: OneTimeLink) => Promise<void>) {
  const { config, log, mongo, passwords, verifications, clock } = sources;
  // A password check costs 32 MiB and a third of a second of one core.
  const inSlot = createPasswordSlots({ atOnce: 2, waiting: 8, perNetwork: 4, perAccount: 2 });
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
      log: (level, message, ...details) => {
        noteCause(details);
        log[level === 'error' ? 'warn' : 'debug']({ event: 'sign_in.library', message, details });
      },
    },
    trustedOrigins: [new URL(config.PUBLIC_URL).origin],
    // Ours counts over all web processes, and knows the user (see sign-in-limits.ts).
    rateLimit: { enabled: false },
    user: {
      modelName: 'people',
      additionalFields: {
        role: { type: 'string', input: false, defaultValue: 'owner' },
        suspendedAt: { type: 'date', input: false, required: false },
        wantsMail: { type: 'boolean', input: false, defaultValue: true },
      },
      validateUserInfo: async ({ user, source }) => {
        if (source.method !== 'oauth') return undefined;
        // Whoever names another's address there, unconfirmed, would keep its owner from signing up.
        if (!user.emailVerified) return { error: 'email_not_verified' };
        return source.action === 'link-account' ? confirmByOtherSite(sources, String(user.id)) : undefined;
      },
    },
    session: {
      modelName: 'sessions',
      additionalFields: {
        secondFactorAt: { type: 'date', input: false, required: false },
      },
      expiresIn: SESSION_MS / SECOND,
      updateAge: DAY / SECOND,
      // A session ends on every process at once: it is looked up with each request.
      cookieCache: { enabled: false },
    },
    account: {
      modelName: 'credentials',
      // An unconfirmed account is no obstacle to the owner of its address: see validateUserInfo.
      accountLinking: { enabled: true, requireLocalEmailVerified: false },
      updateAccountOnSignIn: false,
    },
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
        hash: (password) => inSlot(() => passwords.hash(password)),
        verify: ({ password, hash }) => inSlot(() => passwords.verify(password, hash)),
      },
      sendResetPassword: async ({ user, token }) =>
        giveLink({ kind: 'set-password', user: user, address: page('/set-password', token) }),
      // Other links that were given out work no more, and neither does a sign-in that waits for its code.
      onPasswordReset: async ({ user }) => {
        await verifications.deleteMany({ value: user.id });
      },
    },
    ...(config.DISCORD_CLIENT_ID && config.DISCORD_CLIENT_SECRET
      ? {
          socialProviders: {
            discord: { clientId: config.DISCORD_CLIENT_ID, clientSecret: config.DISCORD_CLIENT_SECRET },
          },
        }
      : {}),
    databaseHooks: {
      account: {
        create: {
          // We ask Discord for nothing later: its tokens are not kept.
          before: async (account) => ({ data: { ...account, ...NO_TOKENS } }),
        },
      },
      session: {
        create: {
          before: async ({ userId }, context) => {
            const { path, body } = context ?? {};
            await refuseSession(sources, new ObjectId(userId), { path, body });
            // One that takes another's place, after a new password: when its code was given stays as it was.
            const before = context?.context.session;
            const given = before?.user.id === userId ? before.session.secondFactorAt : null;
            return { data: { secondFactorAt: asksForCode(path) ? clock.now() : given } };
          },
          after: ({ userId }) => sources.claimServers(new ObjectId(userId)),
        },
      },
    },
    hooks: { before: keepPending(sources) },
    onAPIError: { errorURL: `${config.PUBLIC_URL}/sign-in` },
    plugins: [
      twoFactor({
        issuer: config.SERVICE_NAME,
        twoFactorTable: 'two_factors',
        twoFactorCookieMaxAge: (10 * MINUTE) / SECOND,
        backupCodeOptions: { customBackupCodesGenerate: makeBackupCodes },
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

/** What another site gives to ask it for more about a user. */
const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

/** Whether a session that begins there begins with a code of the second factor. */
function asksForCode(path: string | undefined): boolean {
  return path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code';
}

/**
 * Another site says that an address is its user's. An account that somebody else made with it and never confirmed is
 * theirs now, and nothing that opened it before does any more. An operator's is left alone: nobody enters it that way.
 */
async function confirmByOtherSite(
  sources: AuthSources,
  userId: string,
): Promise<{ error: string } | undefined> {
  const _id = new ObjectId(userId);
  const unconfirmed = await sources.users.findOne({ _id, emailVerified: { $ne: true } });
  if (unconfirmed?.role === 'operator') return { error: 'PASSWORD_NEEDED' };
  if (unconfirmed) await takeEntryAway(sources, _id);
  return undefined;
}

/**
 * A code that was used already is refused before the library ends the sign-in that waits for its code: the next code
 * works there. Nobody finds a used code without wrong ones, which the library counts.
 */
function keepPending(sources: AuthSources) {
  return createAuthMiddleware(async (request) => {
    if (request.path !== '/two-factor/verify-totp') return;
    const { context } = request;
    const key = await request.getSignedCookie(context.createAuthCookie('two_factor').name, context.secret);
    const pending = key ? await context.internalAdapter.findVerificationValue(key) : null;
    if (pending && (await wasCodeUsed(sources, new ObjectId(pending.value), String(request.body.code)))) {
      throw codeUsedError();
    }
  });
}

type Asked = { path: string | undefined; body: { code?: unknown } | undefined };

/** What must hold of everybody who gets a session, however they sign in. */
async function refuseSession(
  { users, ...limits }: AuthSources,
  userId: ObjectId,
  { path, body }: Asked,
): Promise<void> {
  const user = await users.findOne({ _id: userId });
  if (user?.suspendedAt) {
    throw new APIError('FORBIDDEN', { code: 'SUSPENDED', message: 'This account is suspended.' });
  }
  // The library asks for the second factor after a password only.
  const byOtherSite = path?.startsWith('/callback/') ?? false;
  if (byOtherSite && (user?.twoFactorEnabled || user?.role === 'operator')) {
    throw new APIError('FORBIDDEN', { code: 'PASSWORD_NEEDED', message: 'Sign in with the password.' });
  }
  if (path === '/two-factor/verify-totp' && (await isCodeUsed(limits, userId, String(body?.code)))) {
    throw codeUsedError();
  }
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
