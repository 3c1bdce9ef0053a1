import { ObjectId, UUID } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { collectionNames } from '../../src/backup/restore-run.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { missingUniqueIndexes } from '../../src/database/indexes.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { heldByRestore } from '../../src/delivery/restored-votes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { movableClock } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { newFolder } from './new-folder.ts';
import { restoreInto, setRestore, stoppedRestore } from './restoring.ts';

/** A backup of a listing with one vote, and a platform on an empty database. */
async function backedUp() {
  const { deps, cast } = await deliveryBench();
  await cast('Steve');
  const folder = await newFolder();
  const { id: backupId } = await takeBackup(deps, folder);
  return { folder, backupId, other: await testDeps() };
}

const longAgo = () => after(new Date(), -MINUTE);

test('a restore says that it runs, also during an operation that takes long, and a second one is refused', async () => {
  const { folder, other } = await backedUp();
  const first = await stoppedRestore(other, folder);
  await setRestore(other, { progressAt: longAgo() });
  const isNoted = async () => ((await other.restores.findOne())?.progressAt ?? longAgo()) > longAgo();
  await vi.waitUntil(isNoted, EVENTUALLY);
  await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'restore-running' });
  first.goOn();
  await first.ended;
  expect(await other.votes.countDocuments()).toBe(1);
  expect(await other.restores.find().toArray()).toMatchObject([{ finishedAt: expect.any(Date) }]);
});

test('a restore after which another one has begun fails, and does not end the other one', async () => {
  const { folder, other } = await backedUp();
  const first = await stoppedRestore(other, folder);
  // Suspended for a minute: from then on it cannot say that it runs.
  await setRestore(other, { runId: new UUID(), progressAt: longAgo() });
  const second = await stoppedRestore(other, folder);
  // It ends also during an operation that takes long.
  await expect(first.ended).rejects.toMatchObject({
    code: 'restore-lost',
    message: expect.stringContaining('Another restore into this database has begun'),
  });
  first.goOn();
  const [record] = await other.restores.find().toArray();
  expect(record).not.toHaveProperty('finishedAt');
  second.goOn();
  await second.ended;
  expect(await other.votes.countDocuments()).toBe(1);
  expect(await other.restores.find().toArray()).toMatchObject([
    { runId: record?.runId, finishedAt: expect.any(Date) },
  ]);
});

test.each([
  ['ahead', HOUR],
  ['behind', -HOUR],
])('whether a restore runs is decided by the clock of MongoDB, not by one that is an hour %s', async (_, ms) => {
  const { folder, backupId, other } = await backedUp();
  const clock = movableClock();
  clock.move(ms);
  await setRestore(other, { backupId });
  const again = () => restoreInto({ ...other, clock }, folder);
  await expect(again()).rejects.toMatchObject({ code: 'restore-running' });
  await setRestore(other, { progressAt: longAgo() });
  await again();
  expect(await other.votes.countDocuments()).toBe(1);
});

test('of two restores into one empty database that begin at once, one is refused', async () => {
  const { folder, other } = await backedUp();
  const results = await Promise.allSettled([restoreInto(other, folder), restoreInto(other, folder)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = results.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({
    reason: { code: expect.stringMatching(/^(restore-running|database-not-empty)$/) },
  });
  expect(await other.votes.countDocuments()).toBe(1);
});

test('a restore that is interrupted while it migrates begins anew when it is run again', async () => {
  const { folder, other } = await backedUp();
  // Ctrl-C or a crash after the last document, before the indexes.
  const mongo = {
    ...other.mongo,
    get connection(): never {
      throw new Error('interrupted');
    },
  };
  await expect(restoreInto({ ...other, mongo }, folder)).rejects.toThrow('interrupted');
  expect(await other.votes.indexes()).toHaveLength(1);
  await expect(migrateDatabase(other.mongo)).rejects.toMatchObject({ code: 'restore-unfinished' });
  await other.votes.deleteMany({});
  await setRestore(other, { progressAt: longAgo() });

  const { migrated, ...restored } = await restoreInto(other, folder);
  const [record] = await other.restores.find().toArray();
  expect(restored).toMatchObject({ heldVotes: 1 });
  expect(migrated.created).toContain('votes.serverId_1_usernameKey_1_seq_1');
  expect(await other.votes.countDocuments()).toBe(1);
  expect(record).toHaveProperty('finishedAt');
  expect(await missingUniqueIndexes(other.mongo.db)).toEqual([]);
  await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'database-not-empty' });
});

test('a database that was emptied after a restore takes another one', async () => {
  const { folder, other } = await backedUp();
  await restoreInto(other, folder);
  const first = await other.restores.findOne();
  const { db } = other.mongo;
  const names = (await collectionNames(db)).filter((name) => name !== 'restores');
  await Promise.all(names.map((name) => db.dropCollection(name)));
  const second = await stoppedRestore(other, folder);
  const [record, ...more] = await other.restores.find().toArray();
  expect(more).toEqual([]);
  expect(record).not.toMatchObject({ runId: first?.runId });
  expect(record).not.toHaveProperty('finishedAt');
  second.goOn();
  await second.ended;
  expect(await other.votes.countDocuments()).toBe(1);
  expect(await other.restores.findOne()).toHaveProperty('finishedAt');
});

test('a database of an unfinished restore is filled anew, and only from the same backup', async () => {
  const { deps, cast } = await deliveryBench();
  await cast('Steve');
  const folder = await newFolder();
  const manifest = await takeBackup(deps, folder);
  const other = await testDeps();
  // Killed while the votes were inserted: the record is there, and so are some documents.
  await setRestore(other, { backupId: manifest.id });
  await other.votes.insertOne({ ...(await deps.votes.findOne()), _id: 'partial' } as never);
  await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'restore-running' });
  await setRestore(other, { progressAt: longAgo() });
  await expect(migrateDatabase(other.mongo)).rejects.toMatchObject({ code: 'restore-unfinished' });
  const another = await newFolder();
  await takeBackup(deps, another);
  await expect(restoreInto(other, another)).rejects.toMatchObject({
    code: 'restore-running',
    message: expect.stringContaining('A restore of another backup'),
  });
  await restoreInto(other, folder);
  expect(await other.votes.find().toArray()).toHaveLength(1);
  expect(await other.restores.find().toArray()).toMatchObject([{ finishedAt: expect.any(Date) }]);
});

test('the backup of a restored database knows the votes that were held back', async () => {
  const { folder, other } = await backedUp();
  expect(await restoreInto(other, folder)).toMatchObject({ heldVotes: 1 });
  const second = await newFolder();
  await takeBackup(other, second);
  const third = await testDeps();
  expect(await restoreInto(third, second)).toMatchObject({ heldVotes: 1 });
  expect(await heldByRestore(third)).toMatchObject([{ votes: 1 }]);
});

test('a database on which processes have run, with no server and no account, is restored into', async () => {
  const { folder, other } = await backedUp();
  const [worker, scheduler] = await Promise.all([startWorker(other.config), startScheduler(other.config)]);
  await worker.waitForEvent('ranks.computed');
  await worker.waitForEvent('clean_up.done');
  await Promise.all([worker.stop(), scheduler.stop()]);
  expect(await other.rankedLists.countDocuments()).toBeGreaterThan(0);
  await restoreInto(other, folder);
  expect(await other.votes.countDocuments()).toBe(1);
});

test('no deletion of an account is due at any moment of a restore', async () => {
  const deps = await testDeps();
  const dueAt = after(new Date(), -MINUTE);
  const deletion = { deletionId: new ObjectId(), requestedAt: dueAt, dueAt, token: 't' };
  await deps.accountDeletions.insertOne({ _id: new ObjectId(), ...deletion });
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const other = await testDeps();
  const { ended, goOn } = await stoppedRestore(other, folder);
  const inserted = await other.accountDeletions.findOne();
  expect(inserted?.dueAt.getTime()).toBeGreaterThan(after(new Date(), 6 * DAY).getTime());
  goOn();
  await ended;
});
