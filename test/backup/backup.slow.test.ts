import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BSON, type Document, Double, Long, ObjectId, UUID } from 'mongodb';
import { expect, test } from 'vitest';
import { checkBackup, hasSecretKey } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { setListener } from '../../src/delivery/listeners.ts';
import { heldByRestore, sendRestoredVotes } from '../../src/delivery/restored-votes.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { finishOwedResends } from '../../src/delivery/unconfirmed-votes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { createSecretBox } from '../../src/platform/secrets.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { requestInclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import type { Attempt } from '../../src/votes/vote.ts';
import { castOnce } from '../support/casting.ts';
import { deliveryBench, drainHere } from '../support/delivering.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveryIn, putInState } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { bodyOf } from '../votes/voting.ts';
import { newFolder } from './new-folder.ts';
import { restoreInto, setRestore } from './restoring.ts';

const NONE = () => undefined;

/** All documents of a collection as the database stores them, in the order of their ids. */
async function rawOf({ mongo: { db } }: AppDeps, name: string): Promise<object[]> {
  const options = { promoteValues: false, promoteBuffers: false } as const;
  const found = await db.collection(name).find({}, options).sort({ _id: 1 }).toArray();
  return found.map((document) => BSON.EJSON.serialize(document, { relaxed: false }));
}

test('a restored database has every document of the backup, and numbers keep their type', async () => {
  const { deps, cast, drain, serverId } = await deliveryBench();
  await cast('Steve');
  await drain();
  await deps.voteCounts.flush();
  await deps.listeners.updateOne({ serverId }, { $set: { resendOwed: null } });
  await deps.statusSamples.insertOne({
    _id: new ObjectId(),
    serverId,
    at: new Date('2026-11-20T10:00:00Z'),
    status: 'online',
    seconds: 300,
  } as never);
  const storageEngine = { wiredTiger: { configString: 'block_compressor=zlib' } };
  await deps.mongo.db.createCollection('of another/tool', {
    storageEngine,
    validator: { x: { $ne: 1 } },
  });
  await deps.mongo.db.collection<Document>('of another/tool').insertMany([
    { double: new Double(3), long: Long.fromNumber(7), bytes: Buffer.from('abc') },
    { regex: /^a/i, list: [null, { deep: new Date(0) }] },
  ]);
  const folder = await newFolder();
  const manifest = await takeBackup(deps, folder);
  expect(manifest.isSnapshot).toBe(false);

  const other = await testDeps();
  const { documents, heldVotes } = await restoreInto(other, folder);
  expect(heldVotes).toBe(0);
  expect(documents).toBe(manifest.collections.reduce((sum, one) => sum + one.documents, 0));
  for (const { name, documents: count } of manifest.collections) {
    // The restore writes into the first, and each migration makes the others anew.
    if (['audit_log', 'listing_summary', 'ranked_lists'].includes(name)) continue;
    expect([name, await rawOf(other, name)]).toEqual([name, await rawOf(deps, name)]);
    expect(await other.mongo.db.collection(name).countDocuments(), name).toBe(count);
  }
  const indexes = async ({ votes }: AppDeps) => (await votes.indexes()).map(({ name }) => name).toSorted();
  expect(await indexes(other)).toEqual(await indexes(deps));
  expect(await other.mongo.db.listCollections({ name: 'status_samples' }).toArray()).toMatchObject([
    { type: 'timeseries' },
  ]);
  const audit = await other.auditLog.find({ action: 'backup.restored' }).toArray();
  expect(audit).toMatchObject([{ by: 'test', details: { backupId: manifest.id, votes: 0 } }]);
});

test('votes that were open are held back: nothing sends them until somebody does, and they say that they may arrive twice', async () => {
  const { deps, clock, cast, listener, serverId } = await deliveryBench();
  const silent: Attempt = {
    id: new UUID(),
    at: clock.now(),
    worker: 'a worker',
    protocol: 'votifier-v2',
    revision: 1,
    test: false,
    code: 'closed-without-answer',
    class: 'ambiguous',
  };
  const votes = await Promise.all(['Waiting', 'Sending', 'Failed', 'Delivered'].map(cast));
  const [waiting, sending, failed, delivered] = votes;
  if (!waiting || !sending || !failed || !delivered) throw new Error('four votes were cast');
  await putInState(deps, waiting, 'waiting', { attempts: [silent], attemptCount: 1 });
  await putInState(deps, sending, 'sending', { attemptCount: 1 });
  await putInState(deps, failed, 'failed');
  await putInState(deps, delivered, 'delivered');
  const folder = await newFolder();
  await takeBackup(deps, folder);

  const other = { ...(await testDeps()), clock };
  expect(await restoreInto(other, folder)).toMatchObject({ heldVotes: 2 });
  expect(await heldByRestore(other)).toEqual([{ serverId, votes: 2 }]);
  clock.move(10 * MINUTE);
  // New settings send what an earlier token used up, and not these.
  const { port, token } = listener;
  const set = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret: `${token}x` } as const;
  await setListener(other, serverId, { ...set, serviceName: 'Tallyport' }, 'test');
  await setListener(other, serverId, { ...set, secret: token, serviceName: 'Tallyport' }, 'test');
  clock.move(10 * MINUTE);
  await finishOwedResends(other);
  await drainHere(other, serverId);
  expect(listener.votes).toEqual([]);

  const now = clock.now();
  for (const { _id } of [waiting, sending]) {
    const vote = await other.votes.findOne({ _id });
    if (!vote) throw new Error('the vote is missing');
    expect(vote.delivery).toMatchObject({ state: 'unconfirmed' });
    expect(Object.keys(vote.delivery)).not.toContain('queuedAt');
    const timeline = await voteTimeline(
      other,
      vote,
      await other.listeners.findOne({ serverId }),
      clock.now(),
    );
    expect(timeline.status).toMatchObject({ state: 'unconfirmed', why: 'restored' });
    expect(timeline.events.at(-1)).toMatchObject({ kind: 'restored' });
    expect(timeline.events.at(-1)?.at.getTime()).toBeLessThanOrEqual(now.getTime());
  }
  const states = await other.votes
    .find()
    .map(({ username, delivery }) => `${username}: ${delivery.state}`)
    .toArray();
  expect(states.toSorted()).toEqual([
    'Delivered: delivered',
    'Failed: failed',
    'Sending: unconfirmed',
    'Waiting: unconfirmed',
  ]);

  // The backup of a restored database knows them too.
  const second = await newFolder();
  await takeBackup(other, second);
  const third = { ...(await testDeps()), clock };
  expect(await restoreInto(third, second)).toMatchObject({ heldVotes: 2 });
  expect(await sendRestoredVotes(third, await heldByRestore(third), 'test', NONE)).toMatchObject([
    { resent: { resent: 2, mayArriveTwice: 2 } },
  ]);
  expect(await heldByRestore(third)).toEqual([]);
  // One that ends without an answer again is not held any more.
  await third.votes.updateMany(
    { serverId, 'delivery.state': 'waiting' },
    { $set: { 'delivery.state': 'unconfirmed' } },
  );
  expect(await heldByRestore(third)).toEqual([]);
});

test('a quarantine whose release was under way in the backup ends, and its votes are held back', async () => {
  const { deps, clock, cast, listener, serverId } = await deliveryBench();
  const vote = await cast('Steve');
  const exclusionId = await openQuarantine(deps, serverId, 'many at once');
  const at = clock.now();
  const quarantined = { excludedBy: [exclusionId], excludedAt: at, quarantinedAt: at };
  const delivery = deliveryIn('none');
  await deps.votes.updateOne({ _id: vote._id, serverId }, { $set: { ...quarantined, delivery } });
  await requestInclusion(deps, exclusionId, 'test');
  const folder = await newFolder();
  await takeBackup(deps, folder);

  const other = { ...(await testDeps()), clock };
  expect(await restoreInto(other, folder)).toMatchObject({ heldVotes: 0 });
  const exclusion = await other.voteExclusions.findOne({ _id: exclusionId });
  expect(exclusion).toMatchObject({ state: 'releasing' });
  await finishExclusion(other, exclusionId, { settledMs: -HOUR });
  await drainHere(other, serverId);
  expect(listener.votes).toEqual([]);
  expect(await heldByRestore(other)).toEqual([{ serverId, votes: 1 }]);
  const released = await other.votes.findOne({ _id: vote._id, serverId });
  expect(released?.delivery.events.map(({ kind }) => kind)).toEqual(['restored', 'released']);
});

test('a call that is repeated after a restore gets the stored answer, and no second vote', async () => {
  const { deps, serverId } = await deliveryBench();
  const request = { serverId, username: 'Steve', tokenId: new ObjectId(), key: 'a-key-of-a-plugin' };
  const first = await castOnce(deps, request, bodyOf);
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const other = await testDeps();
  await restoreInto(other, folder);
  const again = await castOnce(other, request, bodyOf);
  expect(again).toMatchObject({ kind: 'answer', body: (first as { body: string }).body });
  expect(await other.votes.countDocuments()).toBe(1);
});

test('messages that waited are not sent, sessions end, pending resends are forgotten, and users can still keep their accounts', async () => {
  const { deps, serverId, clock } = await deliveryBench();
  const mail = { to: 'a@example.org', subject: 's', createdAt: clock.now(), attempts: 0 };
  await deps.mails.insertMany([
    { ...mail, _id: 'waiting', sealedText: 'x', nextAt: clock.now() },
    { ...mail, _id: 'sent', sentAt: clock.now() },
  ]);
  await deps.sessions.insertOne({ _id: new ObjectId(), token: 't' } as never);
  const deletion = { deletionId: new ObjectId(), requestedAt: clock.now(), token: 't' };
  const dueAt = after(clock.now(), -MINUTE);
  await deps.accountDeletions.insertOne({ ...deletion, _id: new ObjectId(), dueAt });
  const owed = { at: clock.now(), by: 'test', silentSince: new Date(0) };
  await deps.listeners.updateOne({ serverId }, { $set: { resendOwed: owed } });
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const other = await testDeps();
  expect(await restoreInto(other, folder)).toMatchObject({ droppedMessages: 1 });
  expect(await other.mails.find().sort({ _id: 1 }).toArray()).toMatchObject([
    { _id: 'sent' },
    { _id: 'waiting', givenUpAt: expect.any(Date), lastFault: 'restored from a backup' },
  ]);
  expect(await other.mails.countDocuments({ nextAt: { $exists: true } })).toBe(0);
  expect(await other.sessions.countDocuments()).toBe(0);
  expect(await other.listeners.findOne({ serverId })).toMatchObject({ resendOwed: null });
  const { dueAt: laterDueAt = dueAt } = (await other.accountDeletions.findOne()) ?? {};
  expect(laterDueAt.getTime()).toBeGreaterThan(after(clock.now(), 6 * DAY).getTime());
});

test('a backup has neither uploads as they came nor previews; the owner of a lost upload reads it', async () => {
  const { deps, serverId, clock } = await deliveryBench();
  const now = clock.now();
  const upload = {
    serverId,
    kind: 'banner' as const,
    uploadedAt: now,
    nextAt: now,
    attempts: 0,
    expiresAt: after(now, DAY),
  };
  await deps.pictureUploads.insertOne({ _id: 'a'.repeat(24), bytes: Buffer.from('GPS'), ...upload });
  await deps.previewCards.insertOne({ _id: serverId, askedAt: now, key: 'k', attempts: 0 });
  const bannerUpload = { id: 'a'.repeat(24), at: now };
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'profile.bannerUpload': bannerUpload } });
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const files = await readdir(folder);
  expect(files.filter((name) => /picture_uploads|preview_cards/.test(name))).toEqual([]);
  const other = await testDeps();
  await restoreInto(other, folder);
  expect(await other.servers.findOne({ _id: serverId })).toMatchObject({
    profile: { bannerUpload: { ...bannerUpload, failure: 'late' } },
  });
});

test('a backup is in a folder of its owner alone, which appears when it is complete and is never overwritten', async () => {
  const deps = await testDeps();
  const folder = await newFolder();
  // Of a backup that was killed.
  await takeBackup(deps, join(folder, '..', 'first'));
  await takeBackup(deps, folder);
  expect((await readdir(join(folder, '..'))).toSorted()).toEqual(['backup', 'first']);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of await readdir(folder)) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  await expect(takeBackup(deps, folder)).rejects.toMatchObject({ code: 'folder-exists' });
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

test.each([
  ['a file is missing', 'backup-damaged', (folder: string) => rm(join(folder, 'servers.bson.gz'))],
  ['a file is cut', 'backup-damaged', (folder: string) => truncate(join(folder, 'servers.bson.gz'), 30)],
  ['a byte has changed', 'backup-damaged', (folder: string) => changeByte(join(folder, 'servers.bson.gz'))],
  ['the manifest is missing', 'no-backup', (folder: string) => rm(join(folder, 'manifest.json'))],
  [
    'the manifest is no JSON',
    'backup-damaged',
    (folder: string) => writeFile(join(folder, 'manifest.json'), '{'),
  ],
  [
    'the manifest names a file elsewhere',
    'backup-damaged',
    (folder: string) => edit(folder, '"servers.bson.gz"', '"../x.bson.gz"'),
  ],
  ['the format is unknown', 'newer-backup', (folder: string) => edit(folder, '"format": 1', '"format": 2')],
  [
    'it has a migration of a later version',
    'newer-backup',
    (folder: string) => edit(folder, '0001-complete-servers', '0999-later'),
  ],
])('a backup is refused before anything is restored when %s', async (_what, code, damage) => {
  const { deps } = await deliveryBench();
  const folder = await newFolder();
  await takeBackup(deps, folder);
  await damage(folder);
  await expect(checkBackup(folder, NONE)).rejects.toMatchObject({ name: 'BackupError', code });
});

test.each([
  ['"format": 1', '"format": "1"', '“format” is wrong (Invalid input: expected 1)'],
  [
    '"isSnapshot": false',
    '"isSnapshot": 0',
    '“isSnapshot” is wrong (Invalid input: expected boolean, received number)',
  ],
  ['"name": "servers"', '"name": "sessions"', '.name” is wrong (is not part of a backup)'],
  ['"name": "servers"', '"name": "votes"', '“collections” is wrong (has a name twice)'],
])('a manifest with a wrong field is refused with one sentence: %s as %s', async (from, to, reason) => {
  const { deps } = await deliveryBench();
  const folder = await newFolder();
  await takeBackup(deps, folder);
  await edit(folder, from, to);
  const error = await checkBackup(folder, NONE).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: 'backup-damaged' });
  const { message } = error as Error;
  expect(message.startsWith(`The file manifest.json of “${folder}” is damaged: its field “`)).toBe(true);
  expect(message.endsWith(`${reason}.`)).toBe(true);
  expect(message).not.toContain('\n');
});

async function changeByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function edit(folder: string, from: string, to: string): Promise<void> {
  const path = join(folder, 'manifest.json');
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

test('a database with documents is refused, and one of an unfinished restore is filled anew', async () => {
  const { deps, cast } = await deliveryBench();
  await cast('Steve');
  const folder = await newFolder();
  const manifest = await takeBackup(deps, folder);
  await expect(restoreInto(deps, folder)).rejects.toMatchObject({ code: 'database-not-empty' });
  expect(await deps.votes.countDocuments()).toBe(1);

  const other = await testDeps();
  // Killed while the votes were inserted: the record is there, and so are some documents.
  await setRestore(other, { backupId: manifest.id });
  await other.votes.insertOne({ ...(await deps.votes.findOne()), _id: 'partial' } as never);
  await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'restore-running' });
  await setRestore(other, { progressAt: after(new Date(), -MINUTE) });
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
  await expect(restoreInto(other, folder)).rejects.toMatchObject({ code: 'database-not-empty' });
});

test('a database on which processes have run, with no server and no account, is restored into', async () => {
  const { deps, cast } = await deliveryBench();
  await cast('Steve');
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const other = await testDeps();
  const [worker, scheduler] = await Promise.all([startWorker(other.config), startScheduler(other.config)]);
  await worker.waitForEvent('ranks.computed');
  await worker.waitForEvent('clean_up.done');
  await Promise.all([worker.stop(), scheduler.stop()]);
  expect(await other.rankedLists.countDocuments()).toBeGreaterThan(0);
  await restoreInto(other, folder);
  expect(await other.votes.countDocuments()).toBe(1);
});

test('a backup knows whether SECRET_KEY or the previous one is its key', async () => {
  const { deps } = await deliveryBench();
  const folder = await newFolder();
  const manifest = await takeBackup(deps, folder);
  const SECRET_KEY = 'another-key-for-tests-0123456789-abcdef';
  expect(hasSecretKey(deps.secrets, manifest)).toBe(true);
  expect(hasSecretKey(createSecretBox(SECRET_KEY), manifest)).toBe(false);
  expect(hasSecretKey(createSecretBox(SECRET_KEY, deps.config.SECRET_KEY), manifest)).toBe(true);
});

test('samples that are older than their lifetime are restored before it begins again', async () => {
  const { deps, serverId } = await deliveryBench();
  const lifetime = async ({ mongo: { db } }: AppDeps) => {
    const [found] = await db.listCollections({ name: 'status_samples' }).toArray();
    return (found as { options?: { expireAfterSeconds?: number } }).options?.expireAfterSeconds;
  };
  const at = after(new Date(), -60 * DAY);
  const sample = { _id: new ObjectId(), serverId, at, status: 'online', seconds: 300 };
  await deps.statusSamples.insertOne(sample as never);
  const folder = await newFolder();
  await takeBackup(deps, folder);
  const other = await testDeps();
  await restoreInto(other, folder);
  expect(await other.statusSamples.countDocuments()).toBe(1);
  expect(await lifetime(other)).toBe(await lifetime(deps));
  expect(await lifetime(other)).toBeGreaterThan(0);
});

test('a manifest that names sessions, a file twice or an option of a view is refused', async () => {
  const { deps } = await deliveryBench();
  for (const [from, to] of [
    ['"name": "servers"', '"name": "sessions"'],
    ['"name": "servers"', '"name": "votes"'],
    ['"options": {}', '"options": { "viewOn": "users" }'],
  ] as const) {
    const folder = await newFolder();
    await takeBackup(deps, folder);
    await edit(folder, from, to);
    await expect(checkBackup(folder, NONE)).rejects.toMatchObject({ code: 'backup-damaged' });
  }
});
