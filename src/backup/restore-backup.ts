import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BSON, type CreateCollectionOptions, type Db, type Document, type ObjectId } from 'mongodb';
import { DELETION_DELAY_MS } from '../accounts/deletion/request-deletion.ts';
import { holdRestoredVote } from '../delivery/restored-votes.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after } from '../platform/clock.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { Progress } from '../platform/progress.ts';
import { UnsealError } from '../platform/secrets.ts';
import { migrateDatabase } from '../process/migrate.ts';
import { MIGRATIONS } from '../process/migrations.ts';
import type { Platform } from '../process/platform.ts';
import { hashOf, readBsonFile } from './bson-file.ts';
import { type BackupCollection, BackupError, type Manifest, readManifest } from './manifest.ts';
import { SEALED } from './take-backup.ts';

/** The largest insert: so many documents or bytes. */
const BATCH = { documents: 1_000, bytes: 8 * 1_024 * 1_024 };

/** Numbers keep their type: a double without a fraction does not become an integer. */
const AS_STORED = { promoteValues: false, promoteBuffers: false, bsonRegExp: true } as const;

/** What a restore did. */
export type Restored = {
  documents: number;
  /** Votes that were open, by server: they are held back. */
  held: { serverId: ObjectId; votes: number }[];
  /** Mails and Discord messages that were waiting: they are not sent. */
  droppedMessages: number;
  /** Collections, indexes and migrations of this version that the backup did not have. */
  migrated: { made: string[]; ran: string[] };
  /** Neither `SECRET_KEY` nor `SECRET_KEY_PREVIOUS` is the key of the backup. */
  hasOtherKey: boolean;
};

/**
 * Compares the files of a backup with its manifest.
 *
 * @param progress - gets the number of compared bytes
 * @throws {BackupError} `no-backup`, `backup-damaged`, `newer-backup`
 */
export async function checkBackup(folder: string, progress: Progress): Promise<Manifest> {
  const manifest = await readManifest(folder);
  refuseNewer(manifest);
  await checkFiles(folder, manifest, progress);
  return manifest;
}

/**
 * Restores a backup into an empty database and brings it to this version. Votes that were open become `unconfirmed` before
 * they are in the database, so no worker ever sees them open; messages that were waiting are given up. An interrupted
 * restore starts anew when it is run again.
 *
 * @param manifest - of `checkBackup`
 * @param by - who restores, for the audit log
 * @param progress - gets the number of restored documents
 * @throws {BackupError} `database-not-empty`, `counts-differ`; what `migrateDatabase` throws
 */
export async function restoreBackup(
  platform: Platform,
  folder: string,
  manifest: Manifest,
  { by, progress = () => undefined }: { by: string; progress?: Progress },
): Promise<Restored> {
  const { mongo, clock, restores } = platform;
  const { db } = mongo;
  await emptyDatabase(platform);

  const startedAt = clock.now();
  const takenAt = new Date(manifest.startedAt);
  const record = { _id: manifest.id, takenAt, startedAt, held: [] };
  await restores.insertOne(record, { writeConcern: DURABLE });
  const total = manifest.collections.reduce((sum, { documents }) => sum + documents, 0);
  const changes = new Changes(startedAt);
  let done = 0;
  for (const collection of manifest.collections) {
    const onBatch = (documents: number) => {
      done += documents;
      progress(done, total);
    };
    await restoreCollection(db, folder, collection, changes, onBatch);
  }
  const migrated = await migrateDatabase(mongo);
  const held = [...changes.held.values()];
  await restores.updateOne(
    { _id: manifest.id },
    { $set: { held, finishedAt: clock.now() } },
    { writeConcern: DURABLE },
  );
  const votes = held.reduce((sum, one) => sum + one.votes, 0);
  const details = { backupId: manifest.id, takenAt: manifest.startedAt, votes };
  await recordAudit(platform, { by, action: 'backup.restored', serverId: null, details });
  const { droppedMessages } = changes;
  const hasOtherKey = !isOurKey(platform, manifest);
  return { documents: done, held, droppedMessages, migrated, hasOtherKey };
}

function refuseNewer({ migrations, version }: Manifest): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const unknown = migrations.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new BackupError(
    'newer-backup',
    `The backup is of a newer version (${version}), with the migrations ${unknown.join(', ')}. Restore it with that version.`,
  );
}

async function checkFiles(folder: string, { collections }: Manifest, progress: Progress): Promise<void> {
  const total = collections.reduce((sum, { bytes }) => sum + bytes, 0);
  let read = 0;
  for (const { file, bytes, sha256 } of collections) {
    const damaged = (why: string) =>
      new BackupError('backup-damaged', `The backup is damaged: ${file} ${why}.`);
    const path = join(folder, file);
    const size = await stat(path).then(
      (found) => found.size,
      () => null,
    );
    if (size === null) throw damaged('is missing');
    if (size !== bytes) throw damaged(`has ${size} bytes instead of ${bytes}`);
    const hash = await hashOf(path, (part) => {
      read += part;
      progress(read, total);
    });
    if (hash !== sha256) throw damaged('has changed');
  }
}

/** Drops what an unfinished restore or `tallyport migrate` made; refuses a database that has other documents. */
async function emptyDatabase({
  mongo: { db },
  restores,
}: Pick<Platform, 'mongo' | 'restores'>): Promise<void> {
  const unfinished = await restores.findOne({ finishedAt: { $exists: false } });
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
  if (!unfinished) {
    for (const name of names) {
      if (name === 'migrations' || !(await db.collection(name).findOne({}, { projection: { _id: 1 } })))
        continue;
      throw new BackupError(
        'database-not-empty',
        `The database «${db.databaseName}» has documents (${name}). Restore into an empty database: set MONGODB_URI to one with another name.`,
      );
    }
  }
  // The record last: until then a repeated restore starts anew.
  for (const name of names.filter((one) => one !== restores.collectionName)) await db.dropCollection(name);
  await restores.deleteMany({});
}

async function restoreCollection(
  db: Db,
  folder: string,
  { name, options, documents, file }: BackupCollection,
  changes: Changes,
  onBatch: (documents: number) => void,
): Promise<void> {
  await db.createCollection(name, BSON.EJSON.parse(JSON.stringify(options)) as CreateCollectionOptions);
  const collection = db.collection(name);
  let batch: Document[] = [];
  let bytes = 0;
  const insert = async () => {
    if (batch.length === 0) return;
    await collection.insertMany(batch, { ordered: false, bypassDocumentValidation: true });
    onBatch(batch.length);
    batch = [];
    bytes = 0;
  };
  for await (const raw of readBsonFile(join(folder, file))) {
    const document = BSON.deserialize(raw, AS_STORED);
    changes.apply(name, document);
    batch.push(document);
    bytes += raw.length;
    if (batch.length >= BATCH.documents || bytes >= BATCH.bytes) await insert();
  }
  await insert();
  const restored = await collection.countDocuments();
  if (restored === documents) return;
  throw new BackupError(
    'counts-differ',
    `The collection ${name} has ${restored} documents after the restore, and ${documents} in the backup.`,
  );
}

/** What a restore changes in documents: nothing is sent again by itself. */
class Changes {
  readonly held = new Map<string, { serverId: ObjectId; votes: number }>();
  droppedMessages = 0;
  readonly #now: Date;

  constructor(now: Date) {
    this.#now = now;
  }

  apply(collection: string, document: Document): void {
    switch (collection) {
      case 'votes':
        this.#holdVote(document);
        break;
      case 'mails':
      case 'discord_messages':
        this.#giveUp(document);
        break;
      case 'account_deletions':
        // The user may have decided otherwise since, and has the time once more.
        if (!document.begunAt) document.dueAt = after(this.#now, DELETION_DELAY_MS);
        break;
      case 'listeners':
        // A resend that was pending may have been made since.
        if (document.resendOwed) document.resendOwed = null;
    }
  }

  #holdVote(vote: Document): void {
    if (!holdRestoredVote(vote, this.#now)) return;
    const serverId = vote.serverId as ObjectId;
    const server = this.held.get(serverId.toHexString()) ?? { serverId, votes: 0 };
    server.votes += 1;
    this.held.set(serverId.toHexString(), server);
  }

  #giveUp(message: Document): void {
    if (!message.nextAt) return;
    delete message.nextAt;
    delete message.leaseUntil;
    delete message.sealedText;
    message.givenUpAt = this.#now;
    message.lastFault = 'restored from a backup';
    this.droppedMessages += 1;
  }
}

function isOurKey({ secrets }: Pick<Platform, 'secrets'>, { seal }: Manifest): boolean {
  try {
    return secrets.open(seal, SEALED.context) === SEALED.text;
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}
