import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BSON, type Document, Double, Long, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/backup/manifest.ts';
import { hasSecretKey, type Restored } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { createSecretBox } from '../../src/platform/secrets.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { castOnce } from '../support/casting.ts';
import { deliveryBench } from '../support/delivering.ts';
import { testDeps } from '../support/test-deps.ts';
import { bodyOf } from '../votes/voting.ts';
import { newFolder } from './new-folder.ts';
import { restoreInto } from './restoring.ts';

/** All documents of a collection as the database stores them, in the order of their ids. */
async function rawOf({ mongo: { db } }: AppDeps, name: string): Promise<object[]> {
  const options = { promoteValues: false, promoteBuffers: false } as const;
  const found = await db.collection(name).find({}, options).sort({ _id: 1 }).toArray();
  return found.map((document) => BSON.EJSON.serialize(document, { relaxed: false }));
}

describe('a restored database', () => {
  let deps: AppDeps;
  let other: AppDeps;
  let folder: string;
  let manifest: Manifest;
  let restored: Restored;
  let request: Parameters<typeof castOnce>[1];
  let answered: Awaited<ReturnType<typeof castOnce>>;

  beforeAll(async () => {
    const { deps: backedUp, cast, drain, serverId } = await deliveryBench();
    deps = backedUp;
    await cast('Steve');
    request = { serverId, username: 'Alex', tokenId: new ObjectId(), key: 'a-key-of-a-plugin' };
    answered = await castOnce(deps, request, bodyOf);
    await drain();
    // An unclaimed vote gets an event at the restore (held-back.test.ts).
    const claim = { at: new Date(), tokenId: new ObjectId() };
    await deps.votes.updateMany({ serverId }, { $set: { claim } });
    await deps.voteCounts.flush();
    await deps.listeners.updateOne({ serverId }, { $set: { resendOwed: null } });
    // Older than the lifetime of samples.
    const at = after(new Date(), -60 * DAY);
    const sample = { _id: new ObjectId(), serverId, at, status: 'online', seconds: 300 };
    await deps.statusSamples.insertOne(sample as never);
    const storageEngine = { wiredTiger: { configString: 'block_compressor=zlib' } };
    await deps.mongo.db.createCollection('of another/tool', {
      storageEngine,
      validator: { x: { $ne: 1 } },
    });
    await deps.mongo.db.collection<Document>('of another/tool').insertMany([
      { double: new Double(3), long: Long.fromNumber(7), bytes: Buffer.from('abc') },
      { regex: /^a/i, list: [null, { deep: new Date(0) }] },
    ]);
    folder = await newFolder();
    manifest = await takeBackup(deps, folder);
    other = await testDeps();
    restored = await restoreInto(other, folder);
  });

  test('has every document of the backup, and numbers keep their type', async () => {
    expect(manifest.isSnapshot).toBe(false);
    const { documents, heldVotes } = restored;
    expect(heldVotes).toBe(0);
    expect(documents).toBe(manifest.collections.reduce((sum, one) => sum + one.documents, 0));
    for (const { name, documents: count } of manifest.collections) {
      // The restore writes into the first, and each migration makes the others anew.
      if (['audit_log', 'listing_summary', 'ranked_lists'].includes(name)) continue;
      expect([name, await rawOf(other, name)]).toEqual([name, await rawOf(deps, name)]);
      expect(await other.mongo.db.collection(name).countDocuments(), name).toBe(count);
    }
    const audit = await other.auditLog.find({ action: 'backup.restored' }).toArray();
    expect(audit).toMatchObject([{ by: 'test', details: { backupId: manifest.id, votes: 0 } }]);
  });

  test('has the indexes and the lifetime of samples, which begins after older ones are restored', async () => {
    const indexes = async ({ votes }: AppDeps) => (await votes.indexes()).map(({ name }) => name).toSorted();
    expect(await indexes(other)).toEqual(await indexes(deps));
    const samplesOf = async ({ mongo: { db } }: AppDeps) => {
      const [{ type, options } = {}]: { type?: string; options?: object }[] = await db
        .listCollections({ name: 'status_samples' })
        .toArray();
      return { type, options };
    };
    const samples = await samplesOf(other);
    expect(samples).toMatchObject({
      type: 'timeseries',
      options: { expireAfterSeconds: expect.any(Number) },
    });
    expect(samples).toEqual(await samplesOf(deps));
    expect(await other.statusSamples.countDocuments()).toBe(1);
  });

  test('gives the stored answer to a call that is repeated, and stores no second vote', async () => {
    const again = await castOnce(other, request, bodyOf);
    expect(again).toMatchObject({ kind: 'answer', body: (answered as { body: string }).body });
    expect(await other.votes.countDocuments()).toBe(2);
  });

  test('is not restored into again: it has documents', async () => {
    await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'database-not-empty' });
    expect(await other.votes.countDocuments()).toBe(2);
  });
});

test('a backup is in a folder of its owner alone, which appears when it is complete and is never overwritten', async () => {
  const deps = await testDeps();
  const folder = await newFolder();
  // Of a backup that was killed.
  await mkdir(`${folder}.incomplete-1`);
  const manifest = await takeBackup(deps, folder);
  expect((await readdir(join(folder, '..'))).toSorted()).toEqual(['backup', 'backup.incomplete-1']);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of await readdir(folder)) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  await expect(takeBackup(deps, folder)).rejects.toMatchObject({ code: 'folder-exists' });

  // It knows whether SECRET_KEY or the previous one is its key.
  const SECRET_KEY = 'another-key-for-tests-0123456789-abcdef';
  expect(hasSecretKey(deps.secrets, manifest)).toBe(true);
  expect(hasSecretKey(createSecretBox(SECRET_KEY), manifest)).toBe(false);
  expect(hasSecretKey(createSecretBox(SECRET_KEY, deps.config.SECRET_KEY), manifest)).toBe(true);
});

test('a backup that fails half-way leaves nothing', async () => {
  const deps = await testDeps();
  const folder = await newFolder();
  const failing = { ...deps, clock: { now: failAfter(1) } };
  await expect(takeBackup(failing, folder)).rejects.toThrow('the clock is gone');
  expect(await readdir(join(folder, '..'))).toEqual([]);
});

function failAfter(calls: number): () => Date {
  let left = calls;
  return () => {
    left -= 1;
    if (left < 0) throw new Error('the clock is gone');
    return new Date();
  };
}
