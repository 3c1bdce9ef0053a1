import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { LANGUAGES } from '../language/language.ts';
import { HOUR, MINUTE, SECOND } from './clock.ts';
import {
  canaryList,
  cidrList,
  colour,
  contact,
  durations,
  footerLinks,
  issuerUrl,
  listenHost,
  mailAddress,
  mongoUri,
  oneOf,
  port,
  publicUrl,
  redisUrl,
  secretKey,
  smtpUrl,
  trustProxy,
  wholeNumber,
} from './config-values.ts';
import { ConfigError, ownEnvironment, type Variables } from './environment.ts';
import { readSecretFiles, SECRETS, type WithSecretFiles } from './secret-settings.ts';
import { storedLogo, storedPage } from './stored-values.ts';
import { traceSettings } from './tracing/trace-settings.ts';

const STEAM_OPENID_URL = 'https://steamcommunity.com/openid/login';

/** The settings that may be environment variables. Each value is text, which the transforms convert. */
const environment = z.object({
  NODE_ENV: oneOf(['production', 'development', 'test']).default('development'),
  HOST: listenHost.default('127.0.0.1'),
  PORT: port.default(3000),
  PUBLIC_URL: publicUrl.optional(),
  METRICS_HOST: listenHost.default('127.0.0.1'),
  METRICS_PORT: port.default(9464),
  MONGODB_URI: mongoUri.optional(),
  REDIS_URL: redisUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  SECRET_KEY: secretKey.optional(),
  SECRET_KEY_PREVIOUS: z
    .string()
    .min(32, 'must be what SECRET_KEY was before, so at least 32 characters')
    .optional(),
  ALLOWED_PRIVATE_RANGES: cidrList.default([]),
  REFUSED_RANGES: cidrList.default([]),
  DESTINATION_LIMIT: wholeNumber(1, 1_000_000).default(60),
  ACCOUNT_LIMIT: wholeNumber(1, 1_000_000).default(40),
  SERVERS_PER_ACCOUNT: wholeNumber(1, 1_000_000).default(50),
  /** A web process answers 503 while its event loop is delayed by more than this, in milliseconds; 0: never. */
  MAX_EVENT_LOOP_DELAY_MS: wholeNumber(0, 60_000).default(1_000),
  /** The most connections of an IPv4 address or IPv6 /64 that is no proxy (see `limitConnections`); 0: no limit. */
  CONNECTIONS_PER_ADDRESS: wholeNumber(0, 1_000_000).default(1_000),
  /** Whether players may vote on the pages. */
  WEB_VOTES: oneOf(['on', 'off']).default('on'),
  /** How many new players of an IPv4 /24 or IPv6 /64 may vote for a server on a UTC day (see `networkLimits`). */
  WEB_VOTE_PLAYERS: wholeNumber(1, 300).default(4),
  /**
   * The most accounts made in 24 hours: from an IPv4 /24 or IPv6 /48, and with one mail domain. An IPv4 address or IPv6
   * /64 may make half as many, and a public mail provider has 50 times its limit (see accounts/sign-up-limits.ts).
   */
  SIGN_UPS_PER_NETWORK: wholeNumber(1, 1_000_000).default(10),
  SIGN_UPS_PER_MAIL_DOMAIN: wholeNumber(1, 1_000_000).default(20),
  TRUST_PROXY: trustProxy.default(false),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SERVICE_NAME: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(64, 'must have at most 64 characters')
    .regex(/^\P{Cc}*$/u, 'must have no control characters')
    .default('Tallyport'),
  /** The language of the pages for visitors whose browser prefers no language that Tallyport has. */
  DEFAULT_LANGUAGE: oneOf(LANGUAGES).default('en'),
  NOTICE: z
    .string()
    .trim()
    .max(300, 'must have at most 300 characters')
    .regex(/^\P{Cc}*$/u, 'must have no control characters')
    .default(''),
  /** An e-mail address or a link, shown where users need the operator. */
  CONTACT: contact.optional(),
  /** A folder with the operator's pages (see site/site-pages.ts). */
  SITE_PAGES_DIR: z.string().optional(),
  FOOTER_LINKS: footerLinks.default([]),
  /** The accent colour and the logo of the pages (see site/look). */
  ACCENT_COLOUR: colour.optional(),
  LOGO: z.string().optional(),
  /** After how many months players' names, and users' e-mail addresses, are removed from old records; 0: never. */
  KEEP_PLAYER_NAMES_MONTHS: wholeNumber(0, 1_200).default(0),
  KEEP_ADDRESSES_MONTHS: wholeNumber(0, 1_200).default(24),
  /** A setting of older versions. If it is set, the web process logs what replaced it. */
  OPERATOR_PASSWORD_HASH: z.string().optional(),
  OPERATOR_TWO_FACTOR: oneOf(['required', 'optional']).default('required'),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: mailAddress.optional(),
  DISCORD_CLIENT_ID: z.string().optional(),
  DISCORD_CLIENT_SECRET: z.string().optional(),
  /** Sign-in with an OpenID Connect provider (see accounts/other-sites). */
  OIDC_ISSUER: issuerUrl.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** The provider's name on the pages; by default its host. */
  OIDC_NAME: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(40, 'must have at most 40 characters')
    .regex(/^\P{Cc}*$/u, 'must have no control characters')
    .optional(),
  /**
   * Whether an address counts as confirmed if the provider does not say whether it is (Microsoft Entra). Whoever can set
   * any address there can then open the account here that has it.
   */
  OIDC_TRUST_EMAIL: oneOf(['on', 'off']).default('off'),
  /** Whether players of Steam's games can prove their SteamID on the vote form (see votes/identity). */
  STEAM_SIGN_IN: oneOf(['on', 'off']).default('off'),
  /** The address of Steam's OpenID provider; only tests change it. */
  STEAM_OPENID_URL: issuerUrl.default(STEAM_OPENID_URL),
  /** The address of Discord's webhooks; only tests change it. */
  DISCORD_API_URL: publicUrl.default('https://discord.com/api'),
  QUEUE_PREFIX: z
    .string()
    .regex(/^[\w-]{1,40}$/, 'must be 1 to 40 letters, digits, _ or -')
    .default('tallyport'),
  WORKER_CONCURRENCY: wholeNumber(1, 1_000).default(256),
  TEST_CONCURRENCY: wholeNumber(0, 1_000).default(256),
  BACKLOG_CONCURRENCY: wholeNumber(0, 1_000).default(16),
  ANSWER_CONCURRENCY: wholeNumber(0, 1_000).default(64),
  PROBES: oneOf(['on', 'off']).default('on'),
  PROBE_CONCURRENCY: wholeNumber(1, 1_000).default(128),
  CANARY_ADDRESSES: canaryList.default([]),
  RELAY_INTERVAL_MS: wholeNumber(100, 60_000).default(5 * SECOND),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 60_000).default(5 * SECOND),
  LEASE_MS: wholeNumber(1_000, 600_000).default(30 * SECOND),
  LISTENER_TIMEOUT_MS: wholeNumber(100, 8_000).default(5 * SECOND),
  /** The delays before a vote's attempts. The first one is not used, because the first attempt starts at once. */
  DELIVERY_SCHEDULE: durations.default([
    0,
    5 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    6 * HOUR,
  ]),
  BREAKER_SCHEDULE: durations.default([5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE]),
  CLOCK_OFFSET_MS: wholeNumber(-4_000_000_000_000, 4_000_000_000_000).default(0),
  ...traceSettings,
});

/**
 * Settings that are only stored in the database, because a page or a picture does not fit into an environment variable.
 * The environment has `SITE_PAGES_DIR` and `LOGO` instead, which name a folder and a file.
 */
const storedOnly = z.object({
  PAGE_CONTACT: storedPage.optional(),
  PAGE_IMPRINT: storedPage.optional(),
  PAGE_PRIVACY: storedPage.optional(),
  PAGE_TERMS: storedPage.optional(),
  LOGO_PICTURE: storedLogo.optional(),
});

/** For each setting that is only stored: the environment variable that replaces it. */
const GIVEN_INSTEAD: Record<keyof z.infer<typeof storedOnly>, 'SITE_PAGES_DIR' | 'LOGO'> = {
  PAGE_CONTACT: 'SITE_PAGES_DIR',
  PAGE_IMPRINT: 'SITE_PAGES_DIR',
  PAGE_PRIVACY: 'SITE_PAGES_DIR',
  PAGE_TERMS: 'SITE_PAGES_DIR',
  LOGO_PICTURE: 'LOGO',
};

type Environment = z.infer<typeof environment>;

/** The names of all settings that may be environment variables. */
export const SETTINGS: readonly string[] = Object.keys(environment.shape);

/** The value that each setting has if it is not set. */
export const DEFAULTS: Readonly<Record<string, unknown>> = environment.parse({});

/** The configuration of a process. Times are in milliseconds. */
export type Config = Omit<Environment, 'PUBLIC_URL' | 'MONGODB_URI' | 'REDIS_URL' | 'SECRET_KEY'> &
  z.infer<typeof storedOnly> & {
    /** The address that users and plugins use, without a final slash; may contain a path. */
    PUBLIC_URL: string;
    /** The path of `PUBLIC_URL`, the prefix of every page and endpoint: `''` or `/listing`. */
    basePath: string;
    /** If absent, an embedded database is found or started (see embedded/). */
    MONGODB_URI: string | undefined;
    REDIS_URL: string | undefined;
    /** If absent, one is made and stored in `DATA_DIR`. */
    SECRET_KEY: string | undefined;
    /** The names of the settings that the environment gives. Stored settings do not replace them. */
    given: ReadonlySet<string>;
  };

/** A configuration with the addresses of the services: for a web, worker or scheduler process. */
export type ConnectedConfig = Config & { MONGODB_URI: string; REDIS_URL: string; SECRET_KEY: string };

/** The least `KEEP_PLAYER_NAMES_MONTHS` except 0: last month's top voters need names for two months; one is spare. */
const LEAST_NAME_MONTHS = 3;

function crossVariableErrors(env: Environment): string[] {
  const errors: string[] = [];
  if (env.CLOCK_OFFSET_MS !== 0 && env.NODE_ENV !== 'test') {
    errors.push('CLOCK_OFFSET_MS moves the clock and is only for tests: remove it, or set NODE_ENV=test');
  }
  if (env.DISCORD_API_URL !== 'https://discord.com/api' && env.NODE_ENV !== 'test') {
    errors.push('DISCORD_API_URL is only for tests: remove it, or set NODE_ENV=test');
  }
  if (env.STEAM_OPENID_URL !== STEAM_OPENID_URL && env.NODE_ENV !== 'test') {
    errors.push('STEAM_OPENID_URL is only for tests: remove it, or set NODE_ENV=test');
  }
  if (env.NODE_ENV === 'production') {
    if (!env.MONGODB_URI)
      errors.push(
        'MONGODB_URI is missing: production needs a MongoDB of its own, such as mongodb://db:27017/tallyport',
      );
    if (!env.REDIS_URL)
      errors.push('REDIS_URL is missing: production needs a Redis of its own, such as redis://redis:6379');
    if (!env.SECRET_KEY)
      errors.push(
        'SECRET_KEY is missing: make one with `openssl rand -base64 32` and keep it, it encrypts the listener keys',
      );
  }
  if (env.SMTP_URL && !env.MAIL_FROM) {
    errors.push(
      'MAIL_FROM is missing: SMTP_URL is set, and mail needs a sender such as Tallyport <votes@example.org>',
    );
  }
  if (Boolean(env.DISCORD_CLIENT_ID) !== Boolean(env.DISCORD_CLIENT_SECRET)) {
    errors.push('DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET belong together: set both or neither');
  }
  errors.push(...openIdErrors(env));
  const { KEEP_PLAYER_NAMES_MONTHS: months } = env;
  if (months > 0 && months < LEAST_NAME_MONTHS) {
    errors.push(
      `KEEP_PLAYER_NAMES_MONTHS (${months}) must be 0 or at least ${LEAST_NAME_MONTHS}: the cooldown, claims and last month's top voters need the names`,
    );
  }
  const shortest = 4 * env.LISTENER_TIMEOUT_MS + 2 * SECOND;
  if (env.LEASE_MS < shortest) {
    errors.push(
      `LEASE_MS (${env.LEASE_MS}) must be at least 4 × LISTENER_TIMEOUT_MS + 2000 = ${shortest}: a lease must outlive an attempt`,
    );
  }
  if (env.BREAKER_SCHEDULE.some((delay) => delay <= 0)) {
    errors.push('BREAKER_SCHEDULE must have no zero: a dead listener would be tried without a pause');
  }
  if (env.DELIVERY_SCHEDULE.length < 2 || env.DELIVERY_SCHEDULE.slice(1).some((delay) => delay <= 0)) {
    errors.push(
      'DELIVERY_SCHEDULE needs two times or more, and may be zero only at its beginning: a failing vote would be tried without a pause',
    );
  }
  return errors;
}

/** The error if only some settings of OpenID Connect are set. Only `OIDC_NAME` is optional. */
function openIdErrors({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME }: Environment): string[] {
  const settings = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  const names = Object.keys(settings);
  const missing = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [name] : []));
  const isNone = missing.length === names.length && OIDC_NAME === undefined;
  if (missing.length === 0 || isNone) return [];
  return [
    `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} missing: ${listed(names)} belong together, set all or none`,
  ];
}

function listed(names: string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
}

/** One line for each variable with a wrong value, by the variable's name. The value of a secret is not shown. */
function valueErrors({ issues }: z.ZodError, { variables, files }: WithSecretFiles): Map<string, string> {
  const errors = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = String(path[0]);
    if (errors.has(name)) continue;
    const file = files.get(name);
    const value = SECRETS.has(name) ? '' : ` (“${variables[name]}”)`;
    const shown = file === undefined ? value : ` (in “${file}”)`;
    // A message about one item of a list already names the item.
    errors.set(name, message.startsWith('“') ? `${name}: ${message}` : `${name}${shown} ${message}`);
  }
  return errors;
}

/** The host as it is written in a URL: `localhost` for 127.0.0.1, and `fe80::1%eth0` in brackets without its zone. */
function hostInUrl(host: string): string {
  if (host === '127.0.0.1') return 'localhost';
  return isIPv6(host) ? `[${host.replace(/%.*$/, '')}]` : host;
}

/**
 * Reads the configuration and the files of secrets. An empty value counts as absent.
 *
 * @throws {ConfigError} with one readable line for each wrong variable.
 */
export function loadConfig(env: Variables = ownEnvironment()): Config {
  const given = readSecretFiles(env);
  const parsed = environment.safeParse(given.variables);
  const wrongValues = parsed.success ? new Map<string, string>() : valueErrors(parsed.error, given);
  const right = Object.entries(given.variables).filter(([name]) => !wrongValues.has(name));
  const crossErrors = crossVariableErrors(parsed.data ?? environment.parse(Object.fromEntries(right)));
  // If a variable is wrong or unreadable: errors about its combination with others are not reported.
  const unusable = [...wrongValues.keys(), ...given.unread];
  const errors = [
    ...given.errors,
    ...wrongValues.values(),
    ...crossErrors.filter((error) => !unusable.some((name) => error.includes(name))),
  ];
  if (!parsed.success || errors.length > 0) throw new ConfigError(errors);

  const { PUBLIC_URL, MONGODB_URI, REDIS_URL, SECRET_KEY, ...rest } = parsed.data;
  const address = PUBLIC_URL ?? `http://${hostInUrl(rest.HOST)}:${rest.PORT}`;
  return {
    ...rest,
    PUBLIC_URL: address,
    basePath: new URL(address).pathname.replace(/\/+$/, ''),
    MONGODB_URI,
    REDIS_URL,
    SECRET_KEY,
    given: givenBy(given.variables),
  };
}

/** The settings that the environment sets, including those for which it names a folder or a file. */
function givenBy(variables: Record<string, string>): Set<string> {
  const instead = Object.entries(GIVEN_INSTEAD).filter(([, variable]) => variables[variable] !== undefined);
  return new Set([...Object.keys(variables), ...instead.map(([name]) => name)]);
}

/** The environment variable for a setting. */
export function variableOf(name: string): string {
  return (GIVEN_INSTEAD as Record<string, string>)[name] ?? name;
}

const settings = z.object({ ...environment.shape, ...storedOnly.shape });

/** A setting of the environment or the database, by its name. */
export type SettingName = keyof typeof settings.shape;

/**
 * Converts the text of a setting to its value, as for an environment variable.
 *
 * @returns the value, or the reason why the text is not usable. The reason may quote one item of a list, but nothing
 *   else of `text`
 */
export function settingValue(name: SettingName, text: string): { value: unknown } | { reason: string } {
  const parsed = settings.shape[name].safeParse(text);
  return parsed.success
    ? { value: parsed.data }
    : { reason: parsed.error.issues[0]?.message ?? 'is not usable' };
}

/** One readable line for each combination of values that is wrong. The line names the settings. */
export function errorsTogether(config: Config): string[] {
  return crossVariableErrors(config as Environment);
}
