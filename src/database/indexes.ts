import type { Db, IndexDescriptionInfo } from 'mongodb';
import type { Model, Schema } from 'mongoose';
import type { Mongo } from '../platform/mongo.ts';
import { compileModels, SCHEMAS } from './collections.ts';

/** Rejects if the caller must not write any more. */
export type BeforeWrite = () => Promise<void>;

type IndexOptions = { name?: string; background?: boolean; unique?: boolean };

/**
 * Makes every collection and index that the schemas declare and that does not exist yet. Running it twice, or on two
 * machines at once, does no harm. Returns the names of what was made (`votes`, `votes.open_work`).
 *
 * @throws the driver's error when documents violate an index or an index with the same keys has another name; then that
 *   collection gets none of its missing indexes
 */
export async function makeIndexes(
  mongo: Mongo,
  beforeWrite: BeforeWrite = async () => undefined,
): Promise<{ created: string[]; wasEmpty: boolean }> {
  const collections = await mongo.db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(collections.map(({ name }) => name));
  const models = Object.values(compileModels(mongo));
  const created = await Promise.all(
    models.map((model) => makeIndexesOf(model, mongo.db, existing, beforeWrite)),
  );
  return { created: created.flat(), wasEmpty: existing.size === 0 };
}

/** One command makes all indexes, so MongoDB reads a large collection once, unlike with `Model.createIndexes()`. */
async function makeIndexesOf(
  model: Model<object>,
  db: Db,
  existing: Set<string>,
  beforeWrite: BeforeWrite,
): Promise<string[]> {
  const name = model.collection.collectionName;
  const isNew = !existing.has(name);
  // MongoDB creates a collection with its first index. So only a collection without indexes, and a time series, which
  // needs options, are created here. If another process creates the collection meanwhile, that is no error.
  const { length: indexCount } = model.schema.indexes();
  if (isNew && (indexCount === 0 || model.schema.get('timeseries'))) {
    await beforeWrite();
    await model.createCollection();
  }
  const names = new Set(isNew ? [] : (await indexesOf(db, name)).map((index) => index.name));
  const missing = model.schema.indexes().flatMap(([key, options]) => {
    const { name: _, background: __, ...rest } = options as IndexOptions;
    const wanted = indexName(key, options as IndexOptions);
    return names.has(wanted) ? [] : [{ ...rest, key: key as Record<string, 1 | -1>, name: wanted }];
  });
  if (missing.length > 0) {
    await beforeWrite();
    await db.collection(name).createIndexes(missing);
  }
  return [...(isNew ? [name] : []), ...missing.map((index) => `${name}.${index.name}`)];
}

/** Each as `collection.index`. Without them, votes could be counted twice. */
export async function missingUniqueIndexes(db: Db): Promise<string[]> {
  const checks = SCHEMAS.map(async (schema) => {
    const name = collectionName(schema);
    const unique = schema.indexes().filter(([, options]) => options.unique);
    if (unique.length === 0) return [];
    const there = await indexesOf(db, name);
    return unique
      .map(([keys, options]) => indexName(keys, options))
      .filter((wanted) => !there.some((index) => index.name === wanted && index.unique))
      .map((wanted) => `${name}.${wanted}`);
  });
  return (await Promise.all(checks)).flat();
}

async function indexesOf(db: Db, name: string): Promise<IndexDescriptionInfo[]> {
  try {
    return await db.collection(name).indexes();
  } catch (error) {
    if (error instanceof Error && 'codeName' in error && error.codeName === 'NamespaceNotFound') return [];
    throw error;
  }
}

function collectionName(schema: Schema): string {
  const name = schema.get('collection');
  if (!name) throw new Error('a schema without a collection name');
  return name;
}

function indexName(keys: object, options: { name?: string }): string {
  return (
    options.name ??
    Object.entries(keys)
      .map(([field, direction]) => `${field}_${direction}`)
      .join('_')
  );
}
