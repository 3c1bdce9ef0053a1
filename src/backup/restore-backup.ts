import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BSON, type CreateCollectionOptions, type Db, type Document } from 'mongodb';
import { DELETION_DELAY_MS, repeatDeletionRequests } from '../accounts/deletion/request-deletion.ts';
import { type Migrated, prepareDatabase } from '../database/migrate.ts';
import { MIGRATIONS } from '../database/migrations.ts';
import { holdRestoredVote } from '../delivery/restored-votes.ts';
import { holdRestoredGoals } from '../goals/restored-goals.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after } from '../platform/clock.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { Progress } from '../platform/progress.ts';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { mendExclusions } from '../votes/exclusions/mend-exclusions.ts';
import { sum } from '../votes/vote-counts.ts';
import { readBsonFile, sha256OfFile } from './bson-file.ts';
import { type BackupCollection, BackupError, type Manifest, readManifest } from './manifest.ts';
import { asOnlyRestore, collectionNames } from './restore-run.ts';
import { SEALED } from './take-backup.ts';

const BATCH = { documents: 1_000, bytes: 8 * 1_024 * 1_024 };

/** Values keep their BSON type (a double without a fraction stays a double); invalid UTF-8 is no error. */
const AS_STORED = {
  promoteValues: false,
  promoteBuffers: false,
  bsonRegExp: true,
  validation: { utf8: false },
} as const;

export type Restored = {
  documents: number;
  /** In the backup they were waiting, being sent or already held back. */
  heldVotes: number;
  droppedMessages: number;
  repeatedDeletions: number;
  migrated: Migrated;
};

/** Compares the files of a backup with its manifest, and returns the manifest. `progress` counts bytes. */
export async function checkBackup(folder: string, progress: Progress): Promise<Manifest> {
  const manifest = await readManifest(folder);
  refuseNewer(manifest);
  const { collections } = manifest;
  const total = sum(collections.map(({ bytes }) => bytes));
  let read = 0;
  for (const { file, bytes, sha256 } of collections) {
    const path = join(folder, file);
    const found = await lstat(path).catch(() => null);
    if (!found?.isFile()) throw damaged(file, 'is missing');
    if (found.size !== bytes) throw damaged(file, `has ${found.size} bytes instead of ${bytes}`);
    const hash = await sha256OfFile(path, (part) => {
      read += part;
      progress(read, total);
    });
    if (hash !== sha256) throw damaged(file, 'has changed');
  }
  return manifest;
}

function damaged(file: string, why: string): BackupError {
  return new BackupError('backup-damaged', `The backup is damaged: ${file} ${why}.`);
}

function refuseNewer({ migrations, version }: Manifest): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const unknown = migrations.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new BackupError(
    'newer-backup',
    `The backup is of a newer version than ${version}, with the migrations ${unknown.join(', ')}. Restore it with that version.`,
  );
}

export function hasSecretKey(secrets: SecretBox, { seal }: Manifest): boolean {
  try {
    return secrets.open(seal, SEALED.context) === SEALED.text;
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

/**
 * Restores a backup into an empty database and migrates it to this version. Votes that were waiting or being sent
 * become `unconfirmed` before they are inserted, so no worker ever sends them. Until the restore has ended, `migrate`
 * refuses the database.
 *
 * @param manifest - the result of `checkBackup`
 * @throws {BackupError} the errors of `asOnlyRestore`, and `backup-damaged`, `counts-differ`
 */
export async function restoreBackup(
  deps: AppDeps,
  folder: string,
  manifest: Manifest,
  { by, progress = () => undefined }: { by: string; progress?: Progress },
): Promise<Restored> {
  return asOnlyRestore(deps, manifest, async (throwIfLost) => {
    const restored = await restoreDocuments(deps, folder, manifest, { by, progress, throwIfLost });
    return { ...restored, migrated: await prepareDatabase(deps.mongo, MIGRATIONS, throwIfLost) };
  });
}

async function restoreDocuments(
  deps: AppDeps,
  folder: string,
  { id: backupId, startedAt: takenAt, collections }: Manifest,
  { by, progress, throwIfLost }: { by: string; progress: Progress; throwIfLost: () => Promise<void> },
): Promise<Omit<Restored, 'migrated'>> {
  const { mongo, clock, restores } = deps;
  const { db } = mongo;
  for (const name of await collectionNames(db)) {
    await throwIfLost();
    // Drops what an unfinished restore or `tallyport migrate` made.
    if (name !== restores.collectionName) await db.dropCollection(name);
  }
  const total = sum(collections.map(({ documents }) => documents));
  const changes = new Changes(clock.now());
  let documents = 0;
  for (const collection of collections) {
    await restoreCollection(db, folder, collection, changes, {
      throwIfLost,
      onBatch(inserted) {
        documents += inserted;
        progress(documents, total);
      },
    });
  }
  await throwIfLost();
  for (const { name, options } of collections) await expireAgain(db, name, options);
  const { heldVotes, droppedMessages, exclusions } = changes;
  await mendExclusions(deps, exclusions);
  await holdRestoredGoals(deps);
  // Links that were mailed before the restore must not change an e-mail address.
  await deps.addressChanges.deleteMany({ decidedAt: { $exists: false } }, { writeConcern: DURABLE });
  const repeatedDeletions = await repeatDeletionRequests(deps);
  await throwIfLost();
  const details = { backupId, takenAt, votes: heldVotes };
  await recordAudit(deps, { by, action: 'backup.restored', serverId: null, details });
  return { documents, heldVotes, droppedMessages, repeatedDeletions };
}

async function restoreCollection(
  db: Db,
  folder: string,
  { name, options, documents, file }: BackupCollection,
  changes: Changes,
  { throwIfLost, onBatch }: { throwIfLost: () => Promise<void>; onBatch: (documents: number) => void },
): Promise<void> {
  await throwIfLost();
  // The expiry is set later: otherwise MongoDB would delete old samples while others are still inserted.
  const { expireAfterSeconds: _, ...create } = options;
  await db.createCollection(name, BSON.EJSON.parse(JSON.stringify(create)) as CreateCollectionOptions);
  const collection = db.collection(name);
  let batch: Document[] = [];
  let bytes = 0;
  let read = 0;
  const insert = async () => {
    if (batch.length === 0) return;
    await throwIfLost();
    await collection.insertMany(batch, { ordered: false, bypassDocumentValidation: true });
    onBatch(batch.length);
    batch = [];
    bytes = 0;
  };
  for await (const document of documentsOf(folder, file)) {
    read += 1;
    if (read > documents) break;
    changes.apply(name, document.value);
    batch.push(document.value);
    bytes += document.bytes;
    if (batch.length >= BATCH.documents || bytes >= BATCH.bytes) await insert();
  }
  await insert();
  if (read !== documents) throw damaged(file, `does not have ${documents} documents`);
  const restored = await collection.countDocuments();
  if (restored !== documents) {
    throw new BackupError(
      'counts-differ',
      `The collection ${name} has ${restored} documents after the restore, and ${documents} in the backup.`,
    );
  }
}

async function* documentsOf(
  folder: string,
  file: string,
): AsyncGenerator<{ value: Document; bytes: number }> {
  try {
    for await (const raw of readBsonFile(join(folder, file))) {
      yield { value: BSON.deserialize(raw, AS_STORED), bytes: raw.length };
    }
  } catch (error) {
    throw damaged(file, `cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

async function expireAgain(
  db: Db,
  name: string,
  { expireAfterSeconds }: BackupCollection['options'],
): Promise<void> {
  if (expireAfterSeconds === undefined) return;
  await db.command({
    collMod: name,
    expireAfterSeconds: BSON.EJSON.deserialize({ s: expireAfterSeconds }).s,
  });
}

class Changes {
  heldVotes = 0;
  droppedMessages = 0;
  /** The ids of the exclusions that votes name, and by how many votes. */
  readonly exclusions = new Map<string, number>();
  readonly #now: Date;

  constructor(now: Date) {
    this.#now = now;
  }

  apply(collection: string, document: Document): void {
    switch (collection) {
      case 'votes':
        if (holdRestoredVote(document, this.#now)) this.heldVotes += 1;
        for (const by of document.excludedBy ?? []) {
          const id = by.toHexString();
          this.exclusions.set(id, (this.exclusions.get(id) ?? 0) + 1);
        }
        break;
      case 'mails':
      // Of a backup of an earlier build: migration 0008 would send them again.
      case 'discord_messages':
        this.#giveUp(document);
        break;
      case 'account_deletions':
        // With the old `dueAt`, the account could be deleted at once. The user gets a new mail after the restore.
        if (!document.begunAt) document.dueAt = after(this.#now, DELETION_DELAY_MS);
        break;
      case 'listeners':
        // It may have run since the backup.
        if (document.resendOwed) document.resendOwed = null;
        break;
      case 'events':
        // What waited may have been sent since, and the rest is no news any more.
        document.sends = [];
        break;
      case 'subscriptions':
        // Sources that find again what they had found before the restore store it for nobody.
        document.since = this.#now;
        for (const field of ['nextPassAt', 'notBefore', 'lease']) delete document[field];
        break;
      case 'servers':
        // It is not in the backup. The owner sees that it is lost.
        if (document.profile?.bannerUpload) document.profile.bannerUpload.failure ??= 'late';
    }
  }

  #giveUp(message: Document): void {
    // Held back by the limit of notifications. A later message would report how many there were.
    delete message.heldAt;
    if (!message.nextAt) return;
    delete message.nextAt;
    delete message.leaseUntil;
    delete message.sealedText;
    message.givenUpAt = this.#now;
    message.lastFault = 'restored from a backup';
    this.droppedMessages += 1;
  }
}
