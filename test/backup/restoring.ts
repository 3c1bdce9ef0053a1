import { UUID } from 'mongodb';
import { checkBackup, restoreBackup } from '../../src/backup/restore-backup.ts';
import { RESTORE_RECORD_ID, type RestoreRecord } from '../../src/database/restore-record.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';

/** Restores a backup into a platform on an empty database. */
export async function restoreInto(deps: AppDeps, folder: string) {
  return restoreBackup(deps, folder, await checkBackup(folder, () => undefined), { by: 'test' });
}

/** Changes the record of an unfinished restore, or makes that of one that has just begun. */
export async function setRestore(
  { restores }: Pick<AppDeps, 'restores'>,
  changes: Partial<Omit<RestoreRecord, '_id'>>,
): Promise<void> {
  const now = new Date();
  const begun = {
    backupId: 'of a backup',
    runId: new UUID(),
    takenAt: now,
    startedAt: now,
    progressAt: now,
  };
  const kept = Object.fromEntries(Object.entries(begun).filter(([name]) => !(name in changes)));
  const update = { $set: changes, $setOnInsert: kept };
  await restores.updateOne({ _id: RESTORE_RECORD_ID }, update, { upsert: true });
}

/** A restore that stops when all documents are there, before the record says so, until `goOn` is called. */
export async function stoppedRestore(deps: AppDeps, folder: string) {
  const reached = Promise.withResolvers<void>();
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const addressChanges = Object.create(deps.addressChanges, {
    deleteMany: {
      value: async (...args: Parameters<AppDeps['addressChanges']['deleteMany']>) => {
        reached.resolve();
        await promise;
        return deps.addressChanges.deleteMany(...args);
      },
    },
  });
  const ended = restoreInto({ ...deps, addressChanges }, folder);
  // A test that fails before it awaits the end must not fail a second time.
  ended.catch(() => undefined);
  await Promise.race([reached.promise, ended]);
  return { ended, goOn };
}
