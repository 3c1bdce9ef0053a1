import { bindCollections } from '../../database/collections.ts';
import { missingUniqueIndexes } from '../../database/indexes.ts';
import { listMigrations } from '../../database/migrations.ts';
import { hasUnfinishedRestore, RESTORE_UNFINISHED } from '../../database/unfinished-restore.ts';
import { systemClock } from '../../platform/clock.ts';
import { describeSkew, watchClockSkew } from '../../platform/clock-skew.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/log.ts';
import { type Mongo, OLDEST_MONGODB, openMongo } from '../../platform/mongo.ts';
import { unreachableMembers } from '../../platform/mongo-members.ts';
import { createSecretBox } from '../../platform/secrets.ts';
import type { Findings } from '../../process/redis-findings.ts';
import { countUnreadableListeners, unreadableListenersText } from '../../process/unreadable-listeners.ts';
import { countWithNoun, sentence } from '../output-format.ts';

/**
 * Checks the version, the kind of deployment, whether each member can be reached, the clock, unfinished restores, unique
 * indexes, migrations, and whether `SECRET_KEY` can decrypt the listeners' secrets.
 */
export async function checkMongo(
  uri: string,
  { CLOCK_OFFSET_MS, SECRET_KEY, SECRET_KEY_PREVIOUS }: Config,
  log: Logger,
): Promise<Findings> {
  const mongo = await openMongo(uri, log, { timeoutMs: 0 });
  try {
    const { listeners, restores } = bindCollections(mongo);
    const secrets = SECRET_KEY ? createSecretBox(SECRET_KEY, SECRET_KEY_PREVIOUS) : null;
    const [{ version }, kind, away, skew, restoring, missing, migrations, unreadable] = await Promise.all([
      mongo.db.command({ buildInfo: 1 }),
      kindOf(mongo),
      unreachableMembers(mongo.db),
      watchClockSkew(mongo.db, systemClock(CLOCK_OFFSET_MS))(),
      hasUnfinishedRestore({ restores }),
      missingUniqueIndexes(mongo.db),
      listMigrations(mongo),
      secrets ? countUnreadableListeners(listeners, secrets) : 0,
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
