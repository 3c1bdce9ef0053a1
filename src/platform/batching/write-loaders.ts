import {
  type Collection,
  type Document,
  type Filter,
  MongoServerError,
  type OptionalUnlessRequiredId,
  type UpdateFilter,
} from 'mongodb';
import { SECOND } from '../clock.ts';
import { isUnknownResult, type WriteSafety } from '../mongo.ts';
import type { BatchLoader } from './batcher.ts';

/** One statement of an update command: MongoDB's own names. */
export type UpdateStatement = {
  q: Document;
  u: Document | Document[];
  upsert?: boolean;
  multi?: boolean;
  hint?: string;
  arrayFilters?: Document[];
};

type Writes = { documents: Document[] } | { updates: UpdateStatement[] };

/** How many documents were inserted, matched or upserted, and the error of each write that failed, by its place. */
type Written = { n: number; errors: Map<number, MongoServerError> };

/**
 * Sends many writes in one command, each independent of the others. Not through the driver's bulk writes: they wrap a
 * lost connection in an error that says nothing of it, and cost more.
 *
 * @throws the driver's error when the whole command failed or its end is unknown, which includes one that was not
 *   acknowledged as safe
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
    // A command takes over nothing of the client's own options.
    { ignoreUndefined: true },
  );
  const failed = writeErrors as { index: number; code: number; errmsg: string }[];
  const errors = new Map(
    failed.map(({ index, code, errmsg }) => [index, new MongoServerError({ message: errmsg, code })]),
  );
  return { n, errors };
}

/** Writes whose end was lost so soon are sent once more; after a longer silence nobody waits for another one. */
const AGAIN_WITHIN_MS = SECOND;

/**
 * The same for updates that may be sent twice: where the connection is lost they are, as the driver does with a single
 * one on a replica set. It does not with a command, and a connection would take all of its updates with it.
 *
 * @param updates - that change nothing when they have been made already, or fail with a duplicate key then
 * @returns of the command whose end is known: where it was the second one, those made by the first match no more
 */
export async function sendRepeatable<D extends Document>(
  collection: Collection<D>,
  updates: UpdateStatement[],
  safety: WriteSafety,
): Promise<Written> {
  const began = performance.now();
  const send = () => sendWrites(collection, { updates }, safety);
  return send().catch((error: unknown) => {
    if (!isUnknownResult(error) || performance.now() - began > AGAIN_WITHIN_MS) throw error;
    return send();
  });
}

/** Inserts documents: `true` for each that was stored, a duplicate key and what MongoDB refuses for that one alone. */
export function insertLoader<D extends Document>(
  safety: WriteSafety,
): BatchLoader<Collection<D>, OptionalUnlessRequiredId<D>, true> {
  return {
    most: 200,
    async load(collection, documents) {
      const [only] = documents;
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
 * Updates documents, each inserted where none matches; a duplicate key fails its own request alone. They may be sent
 * twice.
 */
export function upsertLoader<D extends Document>(safety: WriteSafety): Updating<D> {
  return updating(safety, true);
}

/** Updates documents, those that match. They may be sent twice. */
export function updateLoader<D extends Document>(safety: WriteSafety): Updating<D> {
  return updating(safety, false);
}

type Updating<D extends Document> = BatchLoader<Collection<D>, { q: Filter<D>; u: UpdateFilter<D> }, true>;

function updating<D extends Document>(safety: WriteSafety, upsert: boolean): Updating<D> {
  return {
    most: 200,
    async load(collection, statements) {
      const [only] = statements;
      if (only && statements.length === 1) {
        await collection.updateOne(only.q, only.u, { upsert, writeConcern: safety });
        return [true];
      }
      const updates = statements.map((statement) => ({ ...statement, upsert }));
      const { errors } = await sendRepeatable(collection, updates, safety);
      return statements.map((_, i) => errors.get(i) ?? true);
    },
  };
}
