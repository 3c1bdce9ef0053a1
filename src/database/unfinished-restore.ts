import type { Resources } from '../platform/resources.ts';
import type { Collections } from './collections.ts';
import { UNFINISHED } from './restore-record.ts';

export const RESTORE_UNFINISHED =
  'a restore into this database has not ended: wait for it, or run `tallyport restore` with the same backup again';

/** Whether the database has only a part of a backup: a restore is running or was interrupted. */
export async function hasUnfinishedRestore({ restores }: Pick<Collections, 'restores'>): Promise<boolean> {
  return (await restores.findOne(UNFINISHED, { projection: { _id: 1 } })) !== null;
}

/** Also logs when a restore is unfinished and when it has ended. */
export function watchRestore({
  restores,
  log,
}: Pick<Collections, 'restores'> & Pick<Resources, 'log'>): () => Promise<boolean> {
  let wasUnfinished = false;
  return async () => {
    const isUnfinished = await hasUnfinishedRestore({ restores });
    if (isUnfinished && !wasUnfinished) log.warn({ event: 'restore.unfinished' }, RESTORE_UNFINISHED);
    if (!isUnfinished && wasUnfinished) log.info({ event: 'restore.finished' }, 'the restore has ended');
    wasUnfinished = isUnfinished;
    return isUnfinished;
  };
}
