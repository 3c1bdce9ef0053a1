import { discoverOpenId, guardOfIssuer, OpenIdError } from '../../accounts/other-sites/openid-connect.ts';
import { verifyMailServer } from '../../mail/smtp.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { shownAddress } from '../../platform/masked.ts';
import { printable } from '../../platform/printable.ts';
import { SECRETS } from '../../platform/settings/definitions.ts';
import type { Findings } from '../../process/redis-findings.ts';
import { failureOf } from '../failure.ts';
import { sentence } from '../output-format.ts';
import { checkMongo } from './check-mongodb.ts';
import { checkRedis } from './check-redis.ts';
import { failed } from './findings.ts';
import { checkPublicUrl } from './public-url.ts';

/** The result of the check of one service. `skipped`: the service is not configured. */
export type ServiceReport = Findings & {
  service: 'mongodb' | 'redis' | 'smtp' | 'oidc' | 'site';
  status: 'ok' | 'failed' | 'skipped';
};

const MAIL_TIMEOUT_MS = 15 * SECOND;

/** Connects to the configured services, all at the same time. Changes nothing in them. */
export async function checkServices(config: Config): Promise<ServiceReport[]> {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'cli');
  const { MONGODB_URI, REDIS_URL, SMTP_URL, OIDC_ISSUER, PUBLIC_URL } = config;
  const instead = '`npm start` runs its own';
  return await Promise.all([
    report('mongodb', 'MONGODB_URI', MONGODB_URI, instead, (url) => checkMongo(url, config, log)),
    report('redis', 'REDIS_URL', REDIS_URL, instead, (url) => checkRedis(url, log)),
    report('smtp', 'SMTP_URL', SMTP_URL, 'no mail is sent', (url) => checkMail(config, url)),
    report('oidc', 'OIDC_ISSUER', OIDC_ISSUER, 'nobody signs in with OpenID Connect', (issuer) =>
      checkOpenId(config, issuer),
    ),
    report('site', 'PUBLIC_URL', PUBLIC_URL, 'the site has no address', checkPublicUrl),
  ]);
}

async function report(
  service: ServiceReport['service'],
  setting: string,
  url: string | undefined,
  without: string,
  check: (url: string) => Promise<Findings>,
): Promise<ServiceReport> {
  if (!url) {
    return {
      service,
      status: 'skipped',
      facts: [`${setting} is not set: ${without}.`],
      warnings: [],
      errors: [],
    };
  }
  const findings =
    SECRETS.has(setting) && shownAddress(url) === null
      ? failed(
          `${setting} cannot be read: special characters of its user name and password must be encoded, such as %40 for @.`,
        )
      : await check(url).catch((error: unknown) => failed(failureOf(error).message));
  return { service, status: findings.errors.length > 0 ? 'failed' : 'ok', ...findings };
}

async function checkMail(config: Config, url: string): Promise<Findings> {
  try {
    await verifyMailServer(config, MAIL_TIMEOUT_MS);
  } catch (error) {
    const reason = printable(error instanceof Error ? error.message : String(error));
    return failed(sentence(`The mail server cannot be used: ${reason}`));
  }
  const signedIn = new URL(url).username === '' ? 'answers' : 'answers and accepts the sign-in';
  return { facts: [`The mail server ${signedIn}. No mail was sent.`], warnings: [], errors: [] };
}

/**
 * Reads the provider's discovery document. The document does not show whether the provider knows our client; only the
 * first sign-in shows that.
 */
async function checkOpenId(config: Config, issuer: string): Promise<Findings> {
  try {
    const { scopes_supported: scopes } = await discoverOpenId({ issuer, ranges: guardOfIssuer(config) });
    const lacksEmail = scopes !== undefined && !scopes.includes('email');
    return {
      facts: [`The OpenID Connect provider ${issuer} answers.`],
      warnings: lacksEmail
        ? [`The OpenID Connect provider ${issuer} does not list the scope email, which signing in needs.`]
        : [],
      errors: [],
    };
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    return failed(sentence(`The OpenID Connect provider ${issuer} cannot be used: ${error.message}`));
  }
}
