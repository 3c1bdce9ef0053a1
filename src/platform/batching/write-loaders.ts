import {
  type Collection,
  type Document,
  type Filter,
  MongoServerError,
  type OptionalUnlessRequiredId,
  type UpdateFilter,
} from 'mongodb';
import { isUnknownResult, repeatIfUnknown, type WriteSafety } from '../mongo.ts';
import type { BatchLoader } from './batcher.ts';

export type UpdateStatement = {
  q: Document;
  u: Document | Document[];
  upsert?: boolean;
  multi?: boolean;
  hint?: string;
  arrayFilters?: Document[];
};

type Writes = { documents: Document[] } | { updates: UpdateStatement[] };

/** How many documents were inserted, matched or upserted; each failed write's error, by its index in the command. */
type Written = { n: number; errors: Map<number, MongoServerError> };

/**
 * Sends many independent writes in one command. The driver's own bulk writes are not used: they cost more, and if the
 * connection is lost, their error does not say so.
 *
 * @throws the driver's error when the whole command failed, or when its result is unknown, for example because the
 *   write concern failed
 */
export async function sendWrites<D extends Document>(
  { db, collectionName }: Collection<D>,
  writes: Writes,
  safety: WriteSafety,
): Promise<Written> {
  const name = 'documents' in writes ? { insert: collectionName } : { update: collectionName };
  const { w, journal } = safety;
  const writeConcern = { w, ...(journal ? { j: true } : {}) };
  const { n, writeErrors = [] } = await db.command(
    { ...name, ...writes, ordered: false, writeConcern },
    // A command does not inherit the client's options.
    { ignoreUndefined: true },
  );
  const failed = writeErrors as { index: number; code: number; errmsg: string }[];
  const errors = new Map(
    failed.map(({ index, code, errmsg }) => [index, new MongoServerError({ message: errmsg, code })]),
  );
  return { n, errors };
}

/**
 * Like `sendWrites`, for updates that may be sent twice, and are if their result is unknown: all of them
 * (`repeatIfUnknown`), or those of a shard that a mongos could not reach.
 *
 * @param updates - updates that change nothing, or fail with a duplicate key, when they are applied a second time
 * @returns the last result of each update; `n` may not count updates that the first command already applied
 */
export async function sendRepeatable<D extends Document>(
  collection: Collection<D>,
  updates: UpdateStatement[],
  safety: WriteSafety,
): Promise<Written> {
  const { n, errors } = await repeatIfUnknown(() => sendWrites(collection, { updates }, safety));
  const unknown = [...errors].flatMap(([index, error]) => (isUnknownResult(error) ? [index] : []));
  if (unknown.length === 0) return { n, errors };
  const again = unknown.map((index) => updates[index] as UpdateStatement);
  const second = await sendWrites(collection, { updates: again }, safety);
  for (const index of unknown) errors.delete(index);
  for (const [at, error] of second.errors) errors.set(unknown[at] as number, error);
  return { n: n + second.n, errors };
}

/** Answers `true` for each stored document. A refused document, as with a duplicate key, fails only its own request. */
export function insertLoader<D extends Document>(
  safety: WriteSafety,
): BatchLoader<Collection<D>, OptionalUnlessRequiredId<D>, true> {
  return {
    most: 200,
    async load(collection, documents) {
      const [only] = documents;
      // The driver repeats it on a replica set.
      if (only && documents.length === 1) {
        await collection.insertOne(only, { writeConcern: safety });
        return [true];
      }
      const { errors } = await sendWrites(collection, { documents }, safety);
      return documents.map((_, i) => errors.get(i) ?? true);
    },
  };
}

/**
 * Updates documents, and inserts one if an update matches none. A duplicate key fails only its own request. An update
 * with an unknown result may be sent twice, so applying it again must change nothing or fail with a duplicate key.
 */
export function upsertLoader<D extends Document>(safety: WriteSafety, collectMs = 0): UpdateLoader<D> {
  return { ...loaderOfUpdates<D>(safety, true), collectMs };
}

/** Inserts no document. */
export function updateLoader<D extends Document>(safety: WriteSafety): UpdateLoader<D> {
  return loaderOfUpdates(safety, false);
}

type UpdateLoader<D extends Document> = BatchLoader<
  Collection<D>,
  { q: Filter<D>; u: UpdateFilter<D> },
  true
>;

function loaderOfUpdates<D extends Document>(safety: WriteSafety, upsert: boolean): UpdateLoader<D> {
  return {
    most: 200,
    async load(collection, statements) {
      const updates = statements.map((statement) => ({ ...statement, upsert }));
      const { errors } = await sendRepeatable(collection, updates, safety);
      return statements.map((_, i) => errors.get(i) ?? true);
    },
  };
}
