import { CodedError } from '../platform/app-error.ts';
import { DURABLE, type Mongo } from '../platform/mongo.ts';
import { bindCollections } from './collections.ts';
import type { BeforeWrite } from './indexes.ts';
import { completeServers } from './migrations/0001-complete-servers.ts';
import { spreadReviewLists } from './migrations/0002-spread-review-lists.ts';
import { forgetDiscordTokens } from './migrations/0003-forget-discord-tokens.ts';
import { forgetRaises } from './migrations/0004-forget-raises.ts';
import { listRankedServers } from './migrations/0005-list-ranked-servers.ts';
import { groupQuarantines } from './migrations/0006-group-quarantines.ts';
import { settleQueueTimes } from './migrations/0007-queue-times.ts';
import { subscribeDiscordWebhooks } from './migrations/0008-discord-subscriptions.ts';
import { markImports } from './migrations/0009-mark-imports.ts';

/**
 * A change of stored documents. It must do no harm if it runs twice, even at the same time, or while processes of the
 * previous version still serve (design rule 15). When it runs, the indexes of this version exist.
 */
export type Migration = {
  /** Its number and subject. The name is stored, so it never changes. */
  name: string;
  up: (mongo: Mongo) => Promise<void>;
  /** Set if its work can be incomplete or be undone later: each `tallyport migrate` runs it again. */
  repeats?: true;
};

/** All migrations, in their order. A new migration is appended. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-complete-servers', up: completeServers },
  { name: '0002-spread-review-lists', up: spreadReviewLists },
  { name: '0003-forget-discord-tokens', up: forgetDiscordTokens, repeats: true },
  { name: '0004-forget-raises', up: forgetRaises, repeats: true },
  { name: '0005-list-ranked-servers', up: listRankedServers, repeats: true },
  { name: '0006-group-quarantines', up: groupQuarantines, repeats: true },
  { name: '0007-queue-times', up: settleQueueTimes, repeats: true },
  { name: '0008-discord-subscriptions', up: subscribeDiscordWebhooks, repeats: true },
  { name: '0009-mark-imports', up: markImports },
];

/**
 * Runs the pending and the repeating migrations in their order. Records each pending migration when it has ended.
 *
 * @returns the names of the migrations that were pending
 * @throws {CodedError} `migration-failed` at the first migration that fails
 */
export async function runMigrations(
  mongo: Mongo,
  migrations: readonly Migration[],
  beforeWrite: BeforeWrite,
): Promise<string[]> {
  const states = await listMigrations(mongo, migrations);
  const ran: string[] = [];
  for (const [index, migration] of migrations.entries()) {
    const isPending = !states[index]?.appliedAt;
    if (!isPending && !migration.repeats) continue;
    await beforeWrite();
    await migration.up(mongo).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CodedError('migration-failed', `The migration ${migration.name} failed: ${reason}`, {
        cause: error,
      });
    });
    if (!isPending) continue;
    await beforeWrite();
    await noteApplied(mongo, [migration]);
    ran.push(migration.name);
  }
  return ran;
}

/** Records that these migrations are applied. If two processes record the same one, the first time is stored. */
export async function noteApplied(mongo: Mongo, migrations: readonly Migration[]): Promise<void> {
  const appliedAt = new Date();
  const notes = migrations.map(({ name }) => ({
    updateOne: { filter: { _id: name }, update: { $setOnInsert: { appliedAt } }, upsert: true },
  }));
  await bindCollections(mongo).migrations.bulkWrite(notes, { ordered: false, writeConcern: DURABLE });
}

/** All migrations in their order, with the time at which each was recorded as applied; null for a pending one. */
export async function listMigrations(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<{ name: string; appliedAt: Date | null; repeats: boolean }[]> {
  const applied = await bindCollections(mongo).migrations.find().toArray();
  const times = new Map(applied.map(({ _id, appliedAt }) => [_id, appliedAt]));
  return migrations.map(({ name, repeats = false }) => ({
    name,
    appliedAt: times.get(name) ?? null,
    repeats,
  }));
}
