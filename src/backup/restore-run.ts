import { setTimeout as pause } from 'node:timers/promises';
import { type Db, type Document, UUID } from 'mongodb';
import { RESTORE_RECORD_ID } from '../database/restore-record.ts';
import { SECOND } from '../platform/clock.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import { retry } from '../platform/retry.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { BackupError, isBackedUp, type Manifest } from './manifest.ts';

/** A running restore updates its record. If it has not for `DEAD_MS`, it counts as dead. */
const PROGRESS_MS = 2 * SECOND;
export const DEAD_MS = 30 * SECOND;

/**
 * Calls `restore` while no other run restores into the database, and then records that the restore has ended. An
 * unfinished run of the same backup must be dead by mongod's clock.
 *
 * @param restore - calls `throwIfLost` before each write: a run that was suspended for so long that another one has
 *   begun must not write any more, and the timer that updates the record would notice it only after the write
 * @throws {BackupError} `database-not-empty`, `restore-running`, `restore-lost`; the error of `restore`
 */
export async function asOnlyRestore<T>(
  deps: Pick<AppDeps, 'mongo' | 'restores'>,
  manifest: Manifest,
  restore: (throwIfLost: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const runId = await lockDatabase(deps, manifest);
  let updatedAt = performance.now();
  const updateRecord = async (changes: Document = {}) => {
    const at = performance.now();
    const { matchedCount } = await deps.restores.updateOne(
      { _id: RESTORE_RECORD_ID, runId },
      [{ $set: { ...changes, progressAt: '$$NOW' } }],
      { writeConcern: DURABLE },
    );
    if (matchedCount === 0) throw lost();
    updatedAt = at;
  };
  const stopped = new AbortController();
  const updates = updateRegularly(updateRecord, stopped.signal);
  try {
    const throwIfLost = async () => {
      if (performance.now() - updatedAt >= PROGRESS_MS) await updateRecord();
    };
    const result = await Promise.race([restore(throwIfLost), updates]);
    // Without the retries, the command would fail if MongoDB's answer is lost, although everything is restored.
    const retriedUntil = performance.now() + DEAD_MS;
    await retry(() => updateRecord({ finishedAt: '$$NOW' }), {
      deadline: () => retriedUntil,
      signal: stopped.signal,
    });
    return result;
  } finally {
    stopped.abort();
    await updates.catch(() => undefined);
  }
}

/**
 * Updates the record by a timer: one operation may take minutes, and the run must not count as dead meanwhile. Rejects
 * when another run has begun, so that a suspended run ends also during its migration.
 */
async function updateRegularly(updateRecord: () => Promise<void>, stopped: AbortSignal): Promise<never> {
  for (;;) {
    await pause(PROGRESS_MS, undefined, { signal: stopped });
    await updateRecord().catch((error: unknown) => {
      if (error instanceof BackupError) throw error;
    });
  }
}

/** Locks an empty database, or one with a dead restore of this backup. Returns the id of the run. */
async function lockDatabase(
  { mongo: { db }, restores }: Pick<AppDeps, 'mongo' | 'restores'>,
  { id: backupId, startedAt }: Manifest,
): Promise<UUID> {
  const runId = new UUID();
  const found = await restores.findOne({ _id: RESTORE_RECORD_ID });
  const isUnfinished = found !== null && !found.finishedAt;
  if (isUnfinished && found.backupId !== backupId) throw ofAnother(found.takenAt);
  if (!isUnfinished) await refuseDocuments(db);
  const isDead = { $lt: ['$progressAt', { $subtract: ['$$NOW', DEAD_MS] }] };
  const times = { takenAt: new Date(startedAt), startedAt: '$$NOW', progressAt: '$$NOW' };
  const { matchedCount, upsertedCount } = await restores
    .updateOne(
      // If another run has locked the database since `findOne`: its record has another `runId`, so the upsert fails.
      { _id: RESTORE_RECORD_ID, runId: found?.runId ?? runId, ...(isUnfinished ? { $expr: isDead } : {}) },
      [{ $replaceWith: { _id: RESTORE_RECORD_ID, backupId, runId, ...times } }],
      { upsert: !isUnfinished, writeConcern: DURABLE },
    )
    .catch((error: unknown) => {
      throw isDuplicateKey(error) ? running() : error;
    });
  if (matchedCount + upsertedCount === 0) throw running();
  return runId;
}

/** Collections that `tallyport migrate` and the processes fill, even without servers and accounts. */
const WRITTEN_BY_ITSELF = new Set([
  'migrations',
  'period_marks',
  'ranked_lists',
  'listing_summary',
  'site_figures',
  'delivery_days',
]);

async function refuseDocuments(db: Db): Promise<void> {
  for (const name of await collectionNames(db)) {
    if (WRITTEN_BY_ITSELF.has(name) || !isBackedUp(name)) continue;
    if (!(await db.collection(name).findOne({}, { projection: { _id: 1 } }))) continue;
    throw new BackupError(
      'database-not-empty',
      `The database “${db.databaseName}” has documents (${name}). Restore into an empty database: set MONGODB_URI to one with another name, or DATA_DIR to a new folder.`,
    );
  }
}

export async function collectionNames(db: Db): Promise<string[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  return collections.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}

function running(): BackupError {
  return new BackupError(
    'restore-running',
    `A restore into this database is running, or was until less than ${DEAD_MS / SECOND} seconds ago. Wait, or use another database.`,
  );
}

function ofAnother(takenAt: Date): BackupError {
  return new BackupError(
    'restore-running',
    `A restore of another backup, of ${takenAt.toISOString()}, into this database has not ended. Run it again with that backup, or use another database.`,
  );
}

function lost(): BackupError {
  return new BackupError(
    'restore-lost',
    'Another restore into this database has begun, or the record of this one was deleted: this restore has stopped. If no other one runs, run the command again.',
  );
}
