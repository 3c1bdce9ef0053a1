import { once } from 'node:events';
import { discoverOpenId, guardOfIssuer, OpenIdError } from '../../accounts/other-sites/openid-connect.ts';
import { bindCollections } from '../../database/collections.ts';
import { missingUniqueIndexes } from '../../database/indexes.ts';
import { listMigrations } from '../../database/migrations.ts';
import { hasUnfinishedRestore, RESTORE_UNFINISHED } from '../../database/unfinished-restore.ts';
import { verifyMailServer } from '../../mail/smtp.ts';
import { SECOND, systemClock } from '../../platform/clock.ts';
import { describeSkew, watchClockSkew } from '../../platform/clock-skew.ts';
import type { Config } from '../../platform/config.ts';
import { isLoopback } from '../../platform/config-values.ts';
import { within } from '../../platform/deadline.ts';
import { createLogger, type Logger } from '../../platform/log.ts';
import { shownAddress } from '../../platform/masked.ts';
import { type Mongo, OLDEST_MONGODB, openMongo } from '../../platform/mongo.ts';
import { unreachableMembers } from '../../platform/mongo-members.ts';
import { printable } from '../../platform/printable.ts';
import { explainRedisError, openRedis } from '../../platform/redis.ts';
import { createSecretBox } from '../../platform/secrets.ts';
import { SECRETS } from '../../platform/settings/definitions.ts';
import { type Findings, readRedis } from '../../process/redis-findings.ts';
import {
  countUnreadableListeners,
  countUnreadableSubscriptions,
  unreadableListenersText,
  unreadableSubscriptionsText,
} from '../../process/unreadable-secrets.ts';
import { NO_REFERRER, sendsNoReferrer } from '../../site/same-origin.ts';
import { failureOf } from '../failure.ts';
import { countWithNoun, sentence } from '../output-format.ts';

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

async function checkMongo(
  uri: string,
  { CLOCK_OFFSET_MS, SECRET_KEY, SECRET_KEY_PREVIOUS }: Config,
  log: Logger,
): Promise<Findings> {
  const mongo = await openMongo(uri, log, { timeoutMs: 0 });
  try {
    const { listeners, subscriptions, restores } = bindCollections(mongo);
    const secrets = SECRET_KEY ? createSecretBox(SECRET_KEY, SECRET_KEY_PREVIOUS) : null;
    const [{ version }, kind, away, skew, restoring, missing, migrations, unreadable, unsent] =
      await Promise.all([
        mongo.db.command({ buildInfo: 1 }),
        kindOf(mongo),
        unreachableMembers(mongo.db),
        watchClockSkew(mongo.db, systemClock(CLOCK_OFFSET_MS))(),
        hasUnfinishedRestore({ restores }),
        missingUniqueIndexes(mongo.db),
        listMigrations(mongo),
        secrets ? countUnreadableListeners(listeners, secrets) : 0,
        secrets ? countUnreadableSubscriptions(subscriptions, secrets) : 0,
      ]);
    const pending = migrations.filter(({ appliedAt }) => !appliedAt);
    const isMigrated = missing.length === 0 && pending.length === 0;
    return {
      facts: [
        `MongoDB ${version} answers: ${kind}.`,
        ...(isMigrated ? [`All ${countWithNoun(migrations.length, 'migration')} are applied.`] : []),
      ],
      warnings: [
        ...(Number.parseInt(version, 10) < OLDEST_MONGODB
          ? [`MongoDB ${version} is older than ${OLDEST_MONGODB}, which Tallyport is meant for.`]
          : []),
        ...away,
      ],
      errors: [
        // If a restore is unfinished, missing migrations are not reported: `tallyport migrate` refuses such a database.
        ...(restoring ? [sentence(RESTORE_UNFINISHED)] : isMigrated ? [] : [notMigrated(missing, pending)]),
        ...(skew ? [sentence(describeSkew(skew))] : []),
        ...(unreadable > 0 ? [sentence(unreadableListenersText(unreadable))] : []),
        ...(unsent > 0 ? [sentence(unreadableSubscriptionsText(unsent))] : []),
      ],
    };
  } finally {
    await mongo.close();
  }
}

async function kindOf({ db, isStandalone }: Mongo): Promise<string> {
  if (isStandalone) return 'a standalone, without a failover';
  const { setName, hosts = [] } = await db.command({ hello: 1 });
  return setName
    ? `the replica set ${setName} with ${countWithNoun(hosts.length, 'member')}`
    : 'a sharded cluster';
}

function notMigrated(missing: string[], pending: { name: string }[]): string {
  const what = [
    ...(missing.length > 0 ? [`unique indexes missing: ${missing.length}`] : []),
    ...(pending.length > 0 ? [`pending: ${pending.map(({ name }) => name).join(', ')}`] : []),
  ];
  return `The database is not migrated (${what.join('; ')}). Run \`tallyport migrate\`.`;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND;

async function checkRedis(url: string, log: Logger): Promise<Findings> {
  const connection = openRedis(url, log);
  try {
    await once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return await within(CONNECT_TIMEOUT_MS, readRedis(connection));
  } catch (error) {
    return failed(sentence(`Redis does not answer: ${reasonOf(await errorOfNode(url, error, log), url)}`));
  } finally {
    connection.disconnect();
  }
}

/** For a Cluster: the error of its first node. The library hides why the nodes refuse it, such as their certificates. */
async function errorOfNode(url: string, error: unknown, log: Logger): Promise<unknown> {
  if (!url.includes('+cluster:')) return error;
  // A password may contain commas.
  const first = url.replace('+cluster', '').replace(/,[^@/?]*(?=[/?]|$)/, '');
  const node = openRedis(first, log);
  try {
    await once(node, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return error;
  } catch (ofNode) {
    return ofNode;
  } finally {
    node.disconnect();
  }
}

function reasonOf(error: unknown, url: string): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') {
    return `no connection within ${CONNECT_TIMEOUT_MS / SECOND} seconds${hintOf(url)}`;
  }
  return explainRedisError(error);
}

/** What may be wrong if nothing answers, and nothing is refused. */
function hintOf(url: string): string {
  if (url.includes('+cluster:'))
    return '; the addresses that its nodes announce may lead nowhere from here, or not be in their certificates: set cluster-announce-ip or cluster-announce-hostname';
  // A server without TLS waits for the end of what it takes for a command.
  return url.startsWith('rediss') ? '; it may not use TLS: begin REDIS_URL with redis, not rediss' : '';
}

const PAGE_TIMEOUT_MS = 5 * SECOND;

/**
 * Opens the site at `PUBLIC_URL`, as visitors do, and looks for what a proxy changes in its answers. If it cannot be
 * opened from here, that is no error: a container network may not lead back to the proxy, or the site runs nowhere yet.
 */
async function checkPublicUrl(url: string): Promise<Findings> {
  const found = { facts: [], warnings: [], errors: [] };
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) }).catch(
    (error: Error) => error,
  );
  if (answer instanceof Error) {
    if (isLoopback(new URL(url).hostname)) return { ...found, facts: [`Nothing answers at ${url} yet.`] };
    const { cause } = answer as { cause?: Error };
    const reason = printable(cause?.message || answer.message);
    return {
      ...found,
      warnings: [`${url} cannot be opened from here (${reason}): what a proxy changes was not checked.`],
    };
  }
  await answer.body?.cancel();
  const facts = [`${url} answers with ${answer.status}.`];
  if (sendsNoReferrer(answer.headers.get('referrer-policy')))
    return { ...found, facts, warnings: [NO_REFERRER] };
  const unchecked = `${url} answers with ${answer.status}, so what a proxy changes was not checked.`;
  return { ...found, facts, warnings: answer.ok ? [] : [unchecked] };
}

function failed(error: string): Findings {
  return { facts: [], warnings: [], errors: [error] };
}
