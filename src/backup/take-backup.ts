import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BSON, type ClientSession, type Db, MongoServerError } from 'mongodb';
import manifestOfUs from '../../package.json' with { type: 'json' };
import type { AppliedMigration } from '../database/applied-migration.ts';
import { MAJORITY } from '../platform/mongo.ts';
import type { Progress } from '../platform/progress.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { sum } from '../votes/vote-counts.ts';
import { writeBsonFile } from './bson-file.ts';
import {
  type BackupCollection,
  BackupError,
  isBackedUp,
  type Manifest,
  newManifest,
  restorableOptions,
  writeManifest,
} from './manifest.ts';

/** The driver adds the time of the session’s first read. */
const SNAPSHOT = { readConcern: { level: 'snapshot' } } as const;

const SNAPSHOT_TOO_OLD = 239;

export const SEALED = { text: 'tallyport', context: 'backup' } as const;

type Options = {
  noSnapshot?: boolean;
  progress?: Progress;
};

/**
 * Writes the documents into a new folder, which gets its name when the backup is complete. A standalone mongod cannot
 * read all of them at one moment: the collections are read one after another, in the order of `readAt`.
 *
 * @param folder - must not exist; its parent folder must exist
 * @throws {BackupError} `folder-exists`, `snapshot-too-old`; the errors of MongoDB and of the file system
 */
export async function takeBackup(
  deps: AppDeps,
  folder: string,
  { noSnapshot = false, progress = () => undefined }: Options = {},
): Promise<Manifest> {
  const { mongo, clock, secrets } = deps;
  const target = resolve(folder);
  await refuseExisting(target);
  const partial = await mkdtemp(`${target}.incomplete-`);

  const isSnapshot = !mongo.isStandalone && !noSnapshot;
  const session = isSnapshot ? mongo.connection.getClient().startSession({ snapshot: true }) : undefined;
  try {
    const startedAt = clock.now();
    const found = await collectionsOf(mongo.db);
    const total = await estimateOf(mongo.db, found);
    let done = 0;
    const collections: BackupCollection[] = [];
    const applied = mongo.db.collection<AppliedMigration>('migrations');
    // Read from the database, because a newer version may have run migrations that this version does not know.
    const migrations = await applied.distinct('_id', {}, session ? { session, ...SNAPSHOT } : MAJORITY);
    for (const { name, options } of found) {
      const file = `${encodeURIComponent(name)}.bson.gz`;
      let documents = 0;
      const counted = async function* () {
        for await (const document of rawDocuments(mongo.db, name, session)) {
          documents += 1;
          done += 1;
          progress(done, Math.max(done, total));
          yield document;
        }
      };
      const written = await writeBsonFile(join(partial, file), counted());
      collections.push({ name, options, documents, file, ...written });
    }
    const manifest = newManifest({
      id: randomUUID(),
      version: manifestOfUs.version,
      database: mongo.db.databaseName,
      startedAt: startedAt.toISOString(),
      finishedAt: clock.now().toISOString(),
      isSnapshot,
      seal: secrets.seal(SEALED.text, SEALED.context),
      migrations,
      collections,
    });
    await writeManifest(partial, manifest);
    await syncFolder(partial);
    await refuseExisting(target);
    await rename(partial, target);
    await syncFolder(dirname(target));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw explained(error);
  } finally {
    await session?.endSession();
  }
}

async function refuseExisting(folder: string): Promise<void> {
  const there = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (there) throw new BackupError('folder-exists', `“${folder}” exists already. Name a new folder.`);
}

type Found = { name: string; options: Record<string, unknown> };

async function collectionsOf(db: Db): Promise<Found[]> {
  const all = await db.listCollections().toArray();
  return all
    .filter(({ name, type }) => isBackedUp(name) && type !== 'view')
    .map(({ name, ...rest }) => {
      const { options = {} } = rest as { options?: BSON.Document };
      return { name, options: restorableOptions(JSON.parse(BSON.EJSON.stringify(options))) };
    })
    .toSorted((a, b) => readAt(a.name) - readAt(b.name) || a.name.localeCompare(b.name));
}

/** They say that other documents are complete, so these are read after them: marks of finished work, answered keys. */
const READ_FIRST = ['migrations', 'period_marks', 'idempotency_keys'];

/**
 * What names another document is read before it: votes name exclusions, tokens and servers, and these their owners.
 * Imports write their mark before the votes.
 */
const READ_LAST = [
  'votes',
  'import_marks',
  'vote_exclusions',
  'blocks',
  'api_tokens',
  'servers',
  'pictures',
  'people',
];

/** Those in neither list are between the two. */
function readAt(name: string): number {
  return READ_FIRST.includes(name)
    ? READ_FIRST.indexOf(name) - READ_FIRST.length
    : READ_LAST.indexOf(name) + 1;
}

async function estimateOf(db: Db, collections: Found[]): Promise<number> {
  // MongoDB cannot estimate the number of documents of a time series.
  const counts = collections
    .filter(({ options }) => !options.timeseries)
    .map(({ name }) => db.collection(name).estimatedDocumentCount());
  return sum(await Promise.all(counts));
}

/** Reads the documents as raw BSON, so that every number keeps its type. */
function rawDocuments(db: Db, name: string, session: ClientSession | undefined): AsyncIterable<Uint8Array> {
  const concern = session ? { session, ...SNAPSHOT } : MAJORITY;
  const cursor = db.collection(name).find({}, { raw: true, batchSize: 2_000, ...concern });
  return cursor as unknown as AsyncIterable<Uint8Array>;
}

/** The names of the files reach the disk. Some file systems do not support this. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle
    .sync()
    .catch((error: NodeJS.ErrnoException) => {
      if (!['EINVAL', 'EPERM', 'ENOTSUP', 'EISDIR'].includes(error.code ?? '')) throw error;
    })
    .finally(() => handle.close());
}

function explained(error: unknown): unknown {
  if (!(error instanceof MongoServerError) || error.code !== SNAPSHOT_TOO_OLD) return error;
  return new BackupError(
    'snapshot-too-old',
    'MongoDB does not have the moment of this backup any more: it stores old versions of documents for 5 minutes. Raise minSnapshotHistoryWindowInSeconds on its members, or use --no-snapshot.',
  );
}
