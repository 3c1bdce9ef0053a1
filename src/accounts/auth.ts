import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { betterAuth } from 'better-auth/minimal';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { ObjectId } from 'mongodb';
import { languageNow } from '../language/language.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { errorType } from '../platform/error-type.ts';
import { onceForKey } from '../platform/once.ts';
import { derivedKey } from '../platform/secrets.ts';
import { cancelAddressChangeOf } from './address/change-address.ts';
import type { AccountsDeps } from './deps.ts';
import { noteCause } from './library-cause.ts';
import { withAddresses } from './library-email.ts';
import { openIdClientOf } from './other-sites/openid-connect.ts';
import { openIdPlugin } from './other-sites/openid-plugin.ts';
import { createPasswordSlots } from './password-slots.ts';
import { makeBackupCodes } from './second-factor.ts';
import type { OneTimeLink } from './send-link.ts';
import {
  includesCode,
  noteLinkedSite,
  refuseLinkOrRevokeAccess,
  refuseSession,
  refuseUsedCode,
} from './sign-in-rules.ts';
import { takeSignUp } from './sign-up-limits.ts';

/** In characters. NIST requires at least 8; OWASP recommends at least 15 for passwords without a second factor. */
export const PASSWORD_LENGTH = { min: 10, max: 256 } as const;

export const SESSION_MS = 14 * DAY;

/** How long an account takes no codes after too many wrong ones. */
export const LOCKED_MINUTES = 15;

const LINK_MS = HOUR;

/** The sign-in library reads the client's IP address from headers only. */
export const ADDRESS_HEADER = 'x-tallyport-address';

export type Auth = Pick<Library, 'api' | 'handler' | '$context'>;

type Library = ReturnType<typeof openLibrary>;
type GiveLink = (link: OneTimeLink) => Promise<void>;

/**
 * Opens the sign-in library (Better Auth). Only the library routes that the site mounts are reachable over HTTP. If an
 * operator changes a setting that the library uses, the next call uses the new value.
 */
export function createAuth(deps: AccountsDeps, giveLink: GiveLink): Auth {
  // One password check takes 32 MiB of memory and one core for a third of a second, so at most two run at once.
  const inSlot = createPasswordSlots({ atOnce: 2, waiting: 8, perNetwork: 4, perAccount: 2 });
  const libraryFor = onceForKey((_settings) => openLibrary(deps, giveLink, inSlot));
  const library = () => libraryFor(usedSettings(deps.config));
  return {
    get api() {
      return library().api;
    },
    get handler() {
      return library().handler;
    },
    get $context() {
      return library().$context;
    },
  };
}

/** With another key, the library is opened again. */
function usedSettings(config: ConnectedConfig): string {
  const { SERVICE_NAME, SMTP_URL, DISCORD_CLIENT_ID, DISCORD_CLIENT_SECRET } = config;
  const sendsMail = SMTP_URL !== undefined;
  return JSON.stringify([
    SERVICE_NAME,
    sendsMail,
    DISCORD_CLIENT_ID,
    DISCORD_CLIENT_SECRET,
    openIdClientOf(config),
  ]);
}

function openLibrary(deps: AccountsDeps, giveLink: GiveLink, inSlot: ReturnType<typeof createPasswordSlots>) {
  const { config, log, mongo, passwords, users, verifications, clock } = deps;
  const page = (path: string, token: string) =>
    `${config.PUBLIC_URL}${path}?token=${encodeURIComponent(token)}`;

  return betterAuth({
    appName: config.SERVICE_NAME,
    baseURL: new URL(config.PUBLIC_URL).origin,
    basePath: `${config.basePath}/api/auth`,
    // No `client` is passed: with it the adapter would start transactions, which a standalone mongod rejects.
    database: withAddresses(mongodbAdapter(mongo.db)),
    secrets: signingSecrets(config),
    telemetry: { enabled: false },
    logger: {
      log: (level, message, ...details) => {
        noteCause(details);
        const shown = details.map((one) => (one instanceof Error ? errorType(one) : one));
        log[level === 'error' ? 'warn' : 'debug']({ event: 'sign_in.library', message, details: shown });
      },
    },
    trustedOrigins: [new URL(config.PUBLIC_URL).origin],
    // sign-in-limits.ts limits by account and by network instead, across all web processes.
    rateLimit: { enabled: false },
    user: {
      modelName: 'people',
      additionalFields: {
        role: { type: 'string', input: false, defaultValue: 'owner' },
        suspendedAt: { type: 'date', input: false, required: false },
        emailChangedAt: { type: 'date', input: false, required: false },
        wantsMail: { type: 'boolean', input: false, defaultValue: true },
        language: { type: 'string', input: false, required: false },
        choseLanguage: { type: 'boolean', input: false, required: false },
      },
      validateUserInfo: async ({ user, source }, context) => {
        if (source.method !== 'oauth') return undefined;
        // An unconfirmed address may belong to somebody else, whom an account with it would prevent from signing up.
        if (!user.emailVerified) return { error: 'email_not_verified' };
        if (source.action === 'create-user') {
          const address = context?.headers?.get(ADDRESS_HEADER) ?? '';
          const retryAt = await takeSignUp(deps, { email: String(user.email), address });
          if (retryAt) return { error: 'TOO_MANY_ACCOUNTS' };
        }
        return source.action === 'link-account' ? refuseLinkOrRevokeAccess(deps, String(user.id)) : undefined;
      },
    },
    session: {
      modelName: 'sessions',
      additionalFields: {
        secondFactorAt: { type: 'date', input: false, required: false },
      },
      expiresIn: SESSION_MS / SECOND,
      updateAge: DAY / SECOND,
      // If a session is deleted, it ends on all processes at once, because each request reads its session.
      cookieCache: { enabled: false },
    },
    account: {
      modelName: 'credentials',
      // The owner of an address can sign in through another site even if an unconfirmed account has it (see
      // `refuseLinkOrRevokeAccess`).
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
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: (password) => inSlot(() => passwords.hash(password)),
        verify: ({ password, hash }) => inSlot(() => passwords.verify(password, hash)),
      },
      sendResetPassword: async ({ user, token }) =>
        giveLink({ kind: 'set-password', user, address: page('/set-password', token) }),
      // Deletes the user's other links and their sign-ins that are waiting for a code.
      onPasswordReset: async ({ user }) => {
        await verifications.deleteMany({ value: user.id });
        await cancelAddressChangeOf(deps, new ObjectId(user.id));
      },
    },
    ...(config.DISCORD_CLIENT_ID && config.DISCORD_CLIENT_SECRET
      ? {
          socialProviders: {
            discord: {
              clientId: config.DISCORD_CLIENT_ID,
              clientSecret: config.DISCORD_CLIENT_SECRET,
              // If Discord has not verified the address, it counts as no address, as in openid-plugin.ts.
              mapProfileToUser: ({ verified }) => (verified === true ? {} : { email: '' }),
            },
          },
        }
      : {}),
    databaseHooks: {
      account: {
        create: {
          before: async (account) => {
            // If the process dies before the link is stored, the user has a mail about no link. There is no link
            // without a mail.
            await noteLinkedSite(deps, new ObjectId(account.userId), account.providerId);
            return { data: { ...account, ...NO_TOKENS } };
          },
        },
      },
      session: {
        create: {
          before: async ({ userId }, context) => {
            const { path, body } = context ?? {};
            await refuseSession(deps, new ObjectId(userId), { path, body });
            // A session that replaces another one after a password change keeps the time of the last code.
            const before = context?.context.session;
            const given = before?.user.id === userId ? before.session.secondFactorAt : null;
            return { data: { secondFactorAt: includesCode(path) ? clock.now() : given } };
          },
          after: async ({ userId }) => {
            const _id = new ObjectId(userId);
            await users.updateOne(
              { _id, choseLanguage: { $ne: true } },
              { $set: { language: languageNow() } },
            );
            await deps.adoptServers(_id);
          },
        },
      },
    },
    hooks: { before: refuseUsedCode(deps) },
    // With `throw`, our route logs a database error and answers. The library would print it and answer 500.
    onAPIError: { errorURL: `${config.PUBLIC_URL}/sign-in`, throw: true },
    plugins: [
      twoFactor({
        issuer: config.SERVICE_NAME,
        twoFactorTable: 'two_factors',
        twoFactorCookieMaxAge: (10 * MINUTE) / SECOND,
        accountLockout: { durationSeconds: (LOCKED_MINUTES * MINUTE) / SECOND },
        backupCodeOptions: { customBackupCodesGenerate: makeBackupCodes },
      }),
      openIdPlugin(openIdClientOf(config), log),
    ],
    advanced: {
      cookiePrefix: 'tallyport',
      useSecureCookies: config.PUBLIC_URL.startsWith('https:'),
      // As long as the stored state: some users must confirm their address at the other site before they return.
      cookies: { state: { attributes: { maxAge: (10 * MINUTE) / SECOND } } },
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: config.basePath || '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
  });
}

/** We make no later requests to the other site. */
const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

/** The current key and the previous one, so that data encrypted before a change of SECRET_KEY stays readable. */
function signingSecrets({ SECRET_KEY, SECRET_KEY_PREVIOUS }: ConnectedConfig) {
  const keys = [SECRET_KEY, SECRET_KEY_PREVIOUS].filter((key) => key !== undefined);
  return keys.map((key) => ({
    // Encrypted data names its key by this number, so it must not depend on the position in the list.
    version: derivedKey(key, 'number of the sign-in key').readUInt32BE(),
    value: derivedKey(key, 'signing in').toString('base64'),
  }));
}
