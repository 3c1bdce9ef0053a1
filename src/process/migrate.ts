import { type Db, type IndexDescriptionInfo, ObjectId } from 'mongodb';
import type { Schema } from 'mongoose';
import { SECOND, systemClock } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { openMongo } from '../platform/mongo.ts';
import { SUMMARY } from '../ranking/ranked-list.ts';
import { RANKED } from '../ranking/ranking-pipeline.ts';
import { writeLists } from '../ranking/write-lists.ts';
import { newProbeState } from '../servers/listing.ts';
import { bindCollections, SCHEMAS } from './collections.ts';

type IndexOptions = { name?: string; background?: boolean };

/** What `migrate` made, by collection: `['votes', 'votes.open_work']`; empty when all was there. */
type Migration = { made: string[] };

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

/**
 * Makes every collection and index that the schemas declare and that is not there yet, all collections at once. Run by
 * the release step and by `npm start`; running it twice, or on two machines at once, does no harm.
 *
 * @throws the driver's error when an index cannot be made, since documents contradict it or one with the same keys has
 *   another name; then none of that collection's missing indexes is
 */
export async function migrateDatabase(db: Db): Promise<Migration> {
  const existing = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  );
  const made = await Promise.all(SCHEMAS.map((schema) => migrateCollection(db, schema, existing)));
  await Promise.all([
    completeServers(db),
    completeReviewLists(db),
    forgetDiscordTokens(db),
    forgetRaises(db),
  ]);
  await completeRankedLists(db);
  return { made: made.flat() };
}

/** Makes one collection and its missing indexes; gives the names of what it made. */
async function migrateCollection(db: Db, schema: Schema, existing: Set<string>): Promise<string[]> {
  const name = collectionName(schema);
  const isNew = !existing.has(name);
  if (isNew) await createCollection(db, schema, name);
  const indexes = new Set(isNew ? [] : (await indexesOf(db, name)).map((index) => index.name));
  const missing = schema.indexes().flatMap(([key, options]) => {
    const { name: _, background: __, ...rest } = options as IndexOptions;
    const wanted = indexName(key, options as IndexOptions);
    return indexes.has(wanted) ? [] : [{ ...rest, key: key as Record<string, 1 | -1>, name: wanted }];
  });
  // One command for all of them: a large collection is read once.
  if (missing.length > 0) await db.collection(name).createIndexes(missing);
  return [...(isNew ? [name] : []), ...missing.map((index) => `${name}.${index.name}`)];
}

/** Servers that an older version listed get what this one looks for. */
async function completeServers(db: Db): Promise<void> {
  const servers = db.collection('servers');
  await servers.updateMany(
    { probe: { $exists: false } },
    { $set: { probe: newProbeState(new Date()), 'daily.probedUptime': null } },
  );
  await servers.updateMany(
    { 'lastReport.at': { $exists: true }, firstReportAt: { $exists: false } },
    { $set: { firstReportAt: new Date(0) } },
  );
  await servers.updateMany({ slugs: { $exists: false } }, [{ $set: { slugs: ['$slug'] } }]);
}

/**
 * Lists of reviews that an older version made get the spread of their ratings. A review that is moderated in this
 * very moment makes its list another one, which is then left for the next run.
 */
async function completeReviewLists(db: Db): Promise<void> {
  const lists = db.collection('review_lists');
  for await (const { _id, entries } of lists.find({ spread: { $exists: false } })) {
    const ids = (entries as { id: ObjectId }[]).map(({ id }) => id);
    const spread: Record<string, number> = {};
    for await (const { rating } of db.collection('reviews').find({ _id: { $in: ids } })) {
      spread[rating] = (spread[rating] ?? 0) + 1;
    }
    await lists.updateOne({ _id, entries, spread: { $exists: false } }, { $set: { spread } });
  }
}

/** What an older version kept in clear, by which Discord could be asked about a user. */
async function forgetDiscordTokens(db: Db): Promise<void> {
  await db
    .collection('credentials')
    .updateMany(
      { accessToken: { $type: 'string' } },
      { $set: { accessToken: null, refreshToken: null, idToken: null } },
    );
}

/**
 * What an older version noted on vote counters. A process of that version looks its increment up there right after
 * writing it, so counters with young increments are left as they are; the next recount clears them (recount-votes.ts).
 */
async function forgetRaises(db: Db): Promise<void> {
  const minuteAgo = ObjectId.createFromTime(Math.floor(Date.now() / SECOND) - 60);
  await db
    .collection('vote_counters')
    .updateMany(
      { raises: { $exists: true }, 'raises.id': { $not: { $gte: minuteAgo } } },
      { $unset: { raises: true, recount: true } },
    );
}

/** The lists that public pages read: what an older version listed must not be missing until the next ranking. */
async function completeRankedLists(db: Db): Promise<void> {
  const { servers, rankedLists, listingSummary } = bindCollections(db);
  if (await listingSummary.findOne({ _id: SUMMARY })) return;
  if (!(await servers.findOne(RANKED, { projection: { _id: 1 } }))) return;
  // A ranking at the same moment writes the same.
  const { signal } = new AbortController();
  const lease = { signal, throwIfLost: () => undefined };
  await writeLists({ servers, rankedLists, listingSummary, clock: systemClock() }, lease);
}

async function createCollection(db: Db, schema: Schema, name: string): Promise<void> {
  const timeseries = schema.get('timeseries');
  const expireAfterSeconds = schema.get('expireAfterSeconds');
  try {
    await db.createCollection(name, {
      ...(timeseries ? { timeseries: timeseries as never } : {}),
      ...(timeseries && expireAfterSeconds ? { expireAfterSeconds } : {}),
    });
  } catch (error) {
    // Somebody else made it in the meantime.
    if (!(error instanceof Error && 'codeName' in error && error.codeName === 'NamespaceExists')) throw error;
  }
}

/** `migrateDatabase` on the configured database, with a line in the log for what was made. */
export async function migrate(config: Pick<ConnectedConfig, 'MONGODB_URI'>, log: Logger): Promise<Migration> {
  const mongo = await openMongo(config.MONGODB_URI, log, { operationMs: 0 });
  try {
    const migration = await migrateDatabase(mongo.db);
    log.info({ event: 'database.migrated', made: migration.made }, 'the database is ready');
    return migration;
  } finally {
    await mongo.close();
  }
}

/** The unique indexes without which votes could be counted twice; those that are missing: `votes.…`. */
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
