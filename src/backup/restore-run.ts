import { setTimeout as pause } from 'node:timers/promises';
import { type Db, type Document, UUID } from 'mongodb';
import { RESTORE_RECORD_ID, type RestoredDocuments, UNFINISHED } from '../database/restore-record.ts';
import { SECOND } from '../platform/clock.ts';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import { retry } from '../platform/retry.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { BackupError, isBackedUp, type Manifest } from './manifest.ts';

/** How often a running restore updates its record. A restore that has not updated it for `DEAD_MS` counts as dead. */
const PROGRESS_MS = 2 * SECOND;
export const DEAD_MS = 30 * SECOND;

/** One run of a restore, after it has locked the database. */
export type RestoreRun = {
  /**
   * Call this before each write. While the process was suspended, another run may have taken over, and the timer that
   * updates the record would notice that only after the write.
   *
   * @throws {BackupError} `restore-lost` when another run has taken over the database
   */
  throwIfLost(): Promise<void>;
  /** Set when an earlier run of the same backup has restored every document, so that only the migration is missing. */
  restored: RestoredDocuments | undefined;
  /**
   * Records that every document is restored. If this run is interrupted, the next one continues after this step.
   *
   * @throws {BackupError} like `throwIfLost`
   */
  noteRestored(restored: RestoredDocuments): Promise<void>;
};

/**
 * Calls `restore` while no other run restores into the database, and then records in the database that the restore has
 * ended. If an unfinished run of the same backup has not updated its record for 30 seconds by mongod's clock, this run
 * takes over.
 *
 * @throws {BackupError} `database-not-empty`, `restore-running`, `restore-lost`; the error of `restore`
 */
export async function asOnlyRestore<T>(
  deps: Pick<AppDeps, 'mongo' | 'restores'>,
  manifest: Manifest,
  restore: (run: RestoreRun) => Promise<T>,
): Promise<T> {
  const { runId, restored } = await lockDatabase(deps, manifest);
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
    const result = await restore({
      async throwIfLost() {
        if (performance.now() - updatedAt >= PROGRESS_MS) await updateRecord();
      },
      restored,
      noteRestored: (all) => updateRecord({ restored: all }),
    });
    // Without the retries, the command would fail if MongoDB's answer is lost, although everything is restored.
    const retriedUntil = performance.now() + DEAD_MS;
    await retry(() => updateRecord({ finishedAt: '$$NOW' }), {
      deadline: () => retriedUntil,
      signal: stopped.signal,
    });
    return result;
  } finally {
    stopped.abort();
    await updates;
  }
}

/** Updates the record by a timer: one operation may take minutes, and without updates another run would take over. */
async function updateRegularly(updateRecord: () => Promise<void>, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    await pause(PROGRESS_MS, undefined, { signal: stopped }).catch(() => undefined);
    // If the update fails because another run has taken over, `throwIfLost` notices it before the next write.
    if (!stopped.aborted) await updateRecord().catch(() => undefined);
  }
}

/**
 * Locks an empty database, or one with an unfinished restore of this backup, for a new run. If the database was emptied
 * after an earlier restore: the record of that one is replaced.
 */
async function lockDatabase(
  { mongo: { db }, restores }: Pick<AppDeps, 'mongo' | 'restores'>,
  { id: backupId, startedAt }: Manifest,
): Promise<{ runId: UUID; restored: RestoredDocuments | undefined }> {
  const runId = new UUID();
  const isDead = { $lt: ['$progressAt', { $subtract: ['$$NOW', DEAD_MS] }] };
  const takenOver = await restores.findOneAndUpdate(
    { ...UNFINISHED, backupId, $expr: isDead },
    [{ $set: { runId, progressAt: '$$NOW' } }],
    { writeConcern: DURABLE },
  );
  if (takenOver) return { runId, restored: takenOver.restored ?? undefined };
  const found = await restores.findOne({ _id: RESTORE_RECORD_ID });
  if (found && !found.finishedAt) throw found.backupId === backupId ? running() : ofAnother(found.takenAt);
  await refuseDocuments(db);
  const times = { takenAt: new Date(startedAt), startedAt: '$$NOW', progressAt: '$$NOW' };
  // If another run has locked the database since `findOne`: its record has another `runId`, so the upsert fails.
  const locking = restores.updateOne(
    { _id: RESTORE_RECORD_ID, runId: found?.runId ?? runId },
    [{ $replaceWith: { _id: RESTORE_RECORD_ID, backupId, runId, ...times } }],
    { upsert: true, writeConcern: DURABLE },
  );
  await locking.catch((error: unknown) => {
    throw isDuplicateKey(error) ? running() : error;
  });
  return { runId, restored: undefined };
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

/** Throws if the database has documents in a collection that a backup contains, except `WRITTEN_BY_ITSELF`. */
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

/** The collections of a database except MongoDB's own. */
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
    'Another restore has taken over this database, or its record was deleted: this restore has stopped. If no other one runs, run the command again.',
  );
}
