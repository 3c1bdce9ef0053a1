import { ObjectId, UUID } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { collectionNames } from '../../src/backup/restore-run.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { missingUniqueIndexes } from '../../src/database/indexes.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { movableClock } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';
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

test('a restore that another one has taken over fails, and does not end the other one', async () => {
  const { folder, other } = await backedUp();
  const first = await stoppedRestore(other, folder);
  // Suspended for a minute: from the take-over on it cannot say that it runs.
  await setRestore(other, { runId: new UUID(), progressAt: longAgo() });
  const second = await stoppedRestore(other, folder);
  first.goOn();
  await expect(first.ended).rejects.toMatchObject({
    code: 'restore-lost',
    message: expect.stringContaining('Another restore has taken over this database'),
  });
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

test('a restore that is interrupted while it migrates only migrates when it is run again', async () => {
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
  // It would be dropped if the restore started anew.
  const _id = new ObjectId();
  await other.mongo.db.collection('of_another_tool').insertOne({ _id });
  await setRestore(other, { progressAt: longAgo() });

  const { migrated, ...restored } = await restoreInto(other, folder);
  const [record] = await other.restores.find().toArray();
  expect(restored).toEqual(record?.restored);
  expect(restored).toMatchObject({ heldVotes: 1 });
  expect(migrated.created).toContain('votes.serverId_1_usernameKey_1_seq_1');
  expect(await other.mongo.db.collection('of_another_tool').findOne()).toEqual({ _id });
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
  for (const field of ['finishedAt', 'restored']) expect(record).not.toHaveProperty(field);
  second.goOn();
  await second.ended;
  expect(await other.votes.countDocuments()).toBe(1);
  expect(await other.restores.findOne()).toHaveProperty('finishedAt');
});
