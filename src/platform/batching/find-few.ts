import type { Collection, Document, Filter, FindOptions, WithId } from 'mongodb';
import { LOCAL, repeatIfUnknown } from '../mongo.ts';

/** More documents, or more than 16 MB, are read again by the driver's cursor. */
const MOST = 10_000;

type Options = Pick<FindOptions, 'limit' | 'projection' | 'readConcern'> & { sort?: Record<string, 1 | -1> };

/**
 * Like `find(…).toArray()`, in one command: a cursor of the driver costs a lone request twice the processor time
 * (docs/performance.md). The primary answers.
 */
export function findFew<D extends Document>(
  collection: Collection<D>,
  filter: Filter<D>,
  options: Options = {},
): Promise<WithId<D>[]> {
  const command = { find: collection.collectionName, filter, ...LOCAL, ...options, batchSize: MOST };
  return firstBatch(collection, command, () => collection.find(filter, options).toArray());
}

export async function findFirst<D extends Document>(
  collection: Collection<D>,
  filter: Filter<D>,
  options: Omit<Options, 'limit'> = {},
): Promise<WithId<D> | null> {
  const [first = null] = await findFew(collection, filter, { ...options, limit: 1 });
  return first;
}

/** As `findFew`, for an aggregation. */
export function aggregateFew<Result extends Document>(
  collection: Pick<Collection, 'aggregate' | 'collectionName' | 'db'>,
  pipeline: Document[],
  options: Pick<Options, 'readConcern'> = {},
): Promise<Result[]> {
  const command = {
    aggregate: collection.collectionName,
    pipeline,
    ...LOCAL,
    ...options,
    cursor: { batchSize: MOST },
  };
  return firstBatch(collection, command, () => collection.aggregate<Result>(pipeline, options).toArray());
}

async function firstBatch<T>(
  { db, collectionName }: Pick<Collection, 'collectionName' | 'db'>,
  command: Document,
  readAll: () => Promise<T[]>,
): Promise<T[]> {
  const { cursor } = await repeatIfUnknown(() => db.command(command, { ignoreUndefined: true }));
  if (cursor.id === 0) return cursor.firstBatch;
  // Otherwise it would stay open for ten minutes.
  await db.command({ killCursors: collectionName, cursors: [cursor.id] }).catch(() => undefined);
  return readAll();
}
