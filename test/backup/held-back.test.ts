import { readdir } from 'node:fs/promises';
import { ObjectId, UUID } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import type { Restored } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { setListener } from '../../src/delivery/listeners.ts';
import { heldByRestore, sendRestoredVotes } from '../../src/delivery/restored-votes.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { finishOwedResends } from '../../src/delivery/unconfirmed-votes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { requestInclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import type { Attempt, Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchOn, drainHere, openDeliveryDeps } from '../support/delivering.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveryIn, putInState } from '../support/votes.ts';
import { newFolder } from './new-folder.ts';
import { restoreInto } from './restoring.ts';

const NONE = () => undefined;

/** The platform that was backed up, and the one into which the backup was restored. */
let bench: DeliveryBench;
let other: AppDeps;
let restored: Restored;
let files: string[];
let open: Vote[];
const bannerUpload = { id: 'a'.repeat(24), at: new Date() };
let dueAt: Date;
let quarantined: { bench: DeliveryBench; vote: Vote; exclusionId: ObjectId };

beforeAll(async () => {
  const clocked = await openDeliveryDeps();
  bench = await deliveryBenchOn(clocked);
  const { deps, clock, serverId } = bench;
  const now = clock.now();
  await storeVotes();
  await storeQuarantine(await deliveryBenchOn(clocked));

  const mail = { to: 'a@example.org', subject: 's', createdAt: now, attempts: 0 };
  await deps.mails.insertMany([
    { ...mail, _id: 'waiting', sealedText: 'x', nextAt: now },
    { ...mail, _id: 'sent', sentAt: now },
  ]);
  await deps.sessions.insertOne({ _id: new ObjectId(), token: 't' } as never);
  const deletion = { deletionId: new ObjectId(), requestedAt: now, token: 't' };
  dueAt = after(now, -MINUTE);
  await deps.accountDeletions.insertOne({ ...deletion, _id: new ObjectId(), dueAt });
  const resendOwed = { at: now, by: 'test', silentSince: new Date(0) };
  await deps.listeners.updateOne({ serverId }, { $set: { resendOwed } });

  const upload = { serverId, kind: 'banner' as const, uploadedAt: now, nextAt: now, attempts: 0 };
  const expiresAt = after(now, DAY);
  await deps.pictureUploads.insertOne({
    ...upload,
    _id: bannerUpload.id,
    bytes: Buffer.from('GPS'),
    expiresAt,
  });
  await deps.previewCards.insertOne({ _id: serverId, askedAt: now, key: 'k', attempts: 0 });
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'profile.bannerUpload': bannerUpload } });

  const folder = await newFolder();
  await takeBackup(deps, folder);
  files = await readdir(folder);
  other = { ...(await testDeps()), clock };
  restored = await restoreInto(other, folder);
});

/** A vote in each state. */
async function storeVotes(): Promise<void> {
  const { deps, clock, cast } = bench;
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
  open = [waiting, sending];
}

/** A quarantine with a vote, whose release is under way. */
async function storeQuarantine(held: DeliveryBench): Promise<void> {
  const { deps, clock, cast, serverId } = held;
  const vote = await cast('Steve');
  const exclusionId = await openQuarantine(deps, serverId, 'many at once');
  const at = clock.now();
  const excluded = { excludedBy: [exclusionId], excludedAt: at, quarantinedAt: at };
  const delivery = deliveryIn('none');
  await deps.votes.updateOne({ _id: vote._id, serverId }, { $set: { ...excluded, delivery } });
  await requestInclusion(deps, exclusionId, 'test');
  quarantined = { bench: held, vote, exclusionId };
}

test('messages that waited are not sent, sessions end, pending resends are forgotten, and users can still keep their accounts', async () => {
  const { clock, serverId } = bench;
  expect(restored).toMatchObject({ droppedMessages: 1 });
  expect(
    await other.mails
      .find({ _id: { $in: ['sent', 'waiting'] } })
      .sort({ _id: 1 })
      .toArray(),
  ).toMatchObject([
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
  expect(files.filter((name) => /picture_uploads|preview_cards/.test(name))).toEqual([]);
  expect(await other.servers.findOne({ _id: bench.serverId })).toMatchObject({
    profile: { bannerUpload: { ...bannerUpload, failure: 'late' } },
  });
});

test('votes that were open are held back: nothing sends them until somebody does, and they say that they may arrive twice', async () => {
  const { clock, listener, serverId } = bench;
  expect(restored).toMatchObject({ heldVotes: 2 });
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
  for (const { _id } of open) {
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
    .find({ serverId })
    .map(({ username, delivery }) => `${username}: ${delivery.state}`)
    .toArray();
  expect(states.toSorted()).toEqual([
    'Delivered: delivered',
    'Failed: failed',
    'Sending: unconfirmed',
    'Waiting: unconfirmed',
  ]);

  expect(await sendRestoredVotes(other, await heldByRestore(other), 'test', NONE)).toMatchObject([
    { resent: { resent: 2, mayArriveTwice: 2 } },
  ]);
  expect(await heldByRestore(other)).toEqual([]);
  // One that ends without an answer again is not held any more.
  await other.votes.updateMany(
    { serverId, 'delivery.state': 'waiting' },
    { $set: { 'delivery.state': 'unconfirmed' } },
  );
  expect(await heldByRestore(other)).toEqual([]);
});

test('a quarantine whose release was under way in the backup ends, and its votes are held back', async () => {
  const {
    vote,
    exclusionId,
    bench: { serverId, listener },
  } = quarantined;
  const exclusion = await other.voteExclusions.findOne({ _id: exclusionId });
  expect(exclusion).toMatchObject({ state: 'releasing' });
  await finishExclusion(other, exclusionId, { settledMs: -HOUR });
  await drainHere(other, serverId);
  expect(listener.votes).toEqual([]);
  expect(await heldByRestore(other)).toEqual([{ serverId, votes: 1 }]);
  const released = await other.votes.findOne({ _id: vote._id, serverId });
  expect(released?.delivery.events.map(({ kind }) => kind)).toEqual(['restored', 'released']);
});
