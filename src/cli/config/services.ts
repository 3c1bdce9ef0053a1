import { verifyMailServer } from '../../mail/smtp.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { printable } from '../../platform/printable.ts';
import { failureOf } from '../failure.ts';
import { sentence } from '../format.ts';
import { type Findings, failed } from './findings.ts';
import { shownAddress } from './masked.ts';
import { checkMongo } from './mongodb.ts';
import { checkRedis } from './redis.ts';

/** A checked service; `skipped`: it is not configured. */
export type ServiceReport = Findings & {
  service: 'mongodb' | 'redis' | 'smtp';
  status: 'ok' | 'failed' | 'skipped';
};

const MAIL_TIMEOUT_MS = 15 * SECOND;

/** Connects to the configured services, side by side, and changes nothing in them. */
export async function checkServices(config: Config): Promise<ServiceReport[]> {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'cli');
  const { MONGODB_URI, REDIS_URL, SMTP_URL } = config;
  const embedded = '`npm start` runs its own';
  return await Promise.all([
    report('mongodb', 'MONGODB_URI', MONGODB_URI, embedded, (url) => checkMongo(url, config, log)),
    report('redis', 'REDIS_URL', REDIS_URL, embedded, (url) => checkRedis(url, log)),
    report('smtp', 'SMTP_URL', SMTP_URL, 'no mail is sent', checkMail),
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
    shownAddress(url) === null
      ? failed(
          `${setting} cannot be read: special characters of its user name and password must be encoded, such as %40 for @.`,
        )
      : await check(url).catch((error: unknown) => failed(failureOf(error).message));
  return { service, status: findings.errors.length > 0 ? 'failed' : 'ok', ...findings };
}

async function checkMail(url: string): Promise<Findings> {
  try {
    await verifyMailServer(url, MAIL_TIMEOUT_MS);
  } catch (error) {
    const reason = printable(error instanceof Error ? error.message : String(error));
    return failed(sentence(`The mail server cannot be used: ${reason}`));
  }
  const signedIn = new URL(url).username === '' ? 'answers' : 'answers and accepts the sign-in';
  return { facts: [`The mail server ${signedIn}. No mail was sent.`], warnings: [], errors: [] };
}
