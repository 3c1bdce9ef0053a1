import { readdir } from 'node:fs/promises';
import { ObjectId, UUID } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import type { Restored } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { setListener } from '../../src/delivery/change-listener.ts';
import { heldByRestore, sendRestoredVotes } from '../../src/delivery/restored-votes.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { finishOwedResends } from '../../src/delivery/unconfirmed-votes.ts';
import { dueSubscriptions } from '../../src/events/send-events.ts';
import { storeEvents } from '../../src/events/store-events.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { bannerId } from '../../src/servers/drawn-pictures.ts';
import { decideHeld } from '../../src/votes/exclusions/decide-held.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openGroups } from '../../src/votes/exclusions/held-votes.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import {
  requestExclusion,
  requestInclusion,
  unfinishedExclusions,
} from '../../src/votes/exclusions/request-exclusion.ts';
import type { Attempt, Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchOn, drainHere, openDeliveryDeps } from '../support/delivering.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveryIn, putInState } from '../support/votes.ts';
import { newFolder } from './new-folder.ts';
import { restoreInto } from './restoring.ts';

const NONE = () => undefined;

/** The platform that was backed up, and the one into which the backup was restored. */
const HOOK = {
  type: 'http' as const,
  name: 'Hook',
  kinds: ['milestone' as const],
  url: 'https://example.org/',
};
const MILESTONE = { _id: 'evt_milestone', type: 'milestone', data: { votes: 100 } } as const;

let bench: DeliveryBench;
let other: AppDeps;
let restored: Restored;
let files: string[];
let open: Vote[];
const bannerUpload = { id: 'a'.repeat(24), at: new Date() };
let dueAt: Date;
let quarantined: { bench: DeliveryBench; vote: Vote; exclusionId: ObjectId };
let undecidable: { bench: DeliveryBench; votes: Vote[] };
let halfDone: { excluded: Vote; included: Vote };

beforeAll(async () => {
  const clocked = await openDeliveryDeps();
  bench = await deliveryBenchOn(clocked);
  const { deps, clock, serverId } = bench;
  const now = clock.now();
  await storeVotes();
  await storeQuarantine(await deliveryBenchOn(clocked));
  await storeUndecidable(await deliveryBenchOn(clocked));
  await storeHalfDone(await deliveryBenchOn(clocked));

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

  await addSubscription(deps, serverId, HOOK, 'test');
  await storeEvents(deps, serverId, [{ ...MILESTONE, at: after(now, MINUTE) }]);

  const upload = { serverId, kind: 'banner' as const, uploadedAt: now, nextAt: now, attempts: 0 };
  const expiresAt = after(now, DAY);
  await deps.pictureUploads.insertOne({
    ...upload,
    _id: bannerUpload.id,
    bytes: Buffer.from('GPS'),
    expiresAt,
  });
  await deps.previewCards.insertOne({ _id: serverId, askedAt: now, key: 'k', attempts: 0 });
  await deps.bannerPictures.insertOne({
    _id: bannerId(serverId, '468x60'),
    askedAt: now,
    key: 'k',
    attempts: 0,
  });
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
  const { deps, cast, serverId } = held;
  const vote = await cast('Steve');
  const exclusionId = await openQuarantine(deps, serverId, 'many at once');
  await hold(held, vote, [exclusionId]);
  await requestInclusion(deps, exclusionId, 'test');
  quarantined = { bench: held, vote, exclusionId };
}

async function hold({ deps, clock }: DeliveryBench, vote: Vote, excludedBy: ObjectId[]): Promise<void> {
  const { _id, serverId } = vote;
  const at = clock.now();
  const excluded = { excludedBy, excludedAt: at, quarantinedAt: at };
  await deps.votes.updateOne({ _id, serverId }, { $set: { ...excluded, delivery: deliveryIn('none') } });
}

/** As the collections of a lone mongod were read one after another: held votes whose exclusion is missing, or undone. */
async function storeUndecidable(held: DeliveryBench): Promise<void> {
  const { deps, cast, serverId } = held;
  const [missing, undone, both] = [await cast('Missing'), await cast('Undone'), await cast('Both')];
  const undoneId = await openQuarantine(deps, serverId, 'many at once', { cause: 'network', origin: 'x' });
  await requestInclusion(deps, undoneId, 'test');
  await finishExclusion(deps, undoneId, { settledMs: -HOUR });
  await hold(held, missing, [new ObjectId()]);
  await hold(held, undone, [undoneId]);
  await hold(held, both, [undoneId, new ObjectId()]);
  undecidable = { bench: held, votes: [missing, undone, both] };
}

/** An operator's exclusion and the undoing of another one that are finished, and votes that were read before. */
async function storeHalfDone({ deps, cast, serverId, clock }: DeliveryBench): Promise<void> {
  const [excluded, included] = [await cast('Excluded'), await cast('Included')];
  const range = { serverId, since: new Date(0), until: clock.now(), tokenId: null, reason: 'bought' };
  for (const [vote, username] of [
    [excluded, 'Excluded'],
    [included, 'Included'],
  ] as const) {
    await putInState(deps, vote, 'delivered');
    const _id = new ObjectId();
    await requestExclusion(deps, _id, range, 'test');
    const ofPlayer = { username, usernameKey: vote.usernameKey, state: 'excluding-player' } as const;
    await deps.voteExclusions.updateOne({ _id }, { $set: ofPlayer });
    await finishExclusion(deps, _id, { settledMs: -HOUR });
    if (vote === included) {
      await requestInclusion(deps, _id, 'test');
      await finishExclusion(deps, _id, { settledMs: -HOUR });
    }
    const before = { excludedBy: [_id], excludedAt: clock.now() };
    await deps.votes.updateOne(
      { _id: vote._id, serverId },
      vote === included ? { $set: before } : { $unset: { excludedBy: '', excludedAt: '' } },
    );
  }
  halfDone = { excluded, included };
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

test('events that waited are sent to nobody, and what sources find again neither', async () => {
  const { clock, serverId } = bench;
  expect(await bench.deps.events.findOne()).toMatchObject({ sends: [{ attempts: 0 }] });
  expect(await other.events.findOne()).toMatchObject({ type: 'milestone', sends: [] });
  const found = { ...MILESTONE, _id: 'evt_found_again', at: after(clock.now(), -MINUTE) };
  expect(await storeEvents(other, serverId, [found])).toBe(0);
  expect(await dueSubscriptions(other)).toEqual([]);
  expect(await storeEvents(other, serverId, [{ ...found, at: after(clock.now(), MINUTE) }])).toBe(1);
});

test('a backup has neither uploads as they came nor previews; the owner of a lost upload reads it', async () => {
  expect(files.filter((name) => /picture_uploads|preview_cards|banner_pictures/.test(name))).toEqual([]);
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

test('votes whose exclusion is missing or undone in the backup are in the inbox, and a decision ends their hold', async () => {
  const {
    votes,
    bench: { serverId, clock },
  } = undecidable;
  const { rows } = await openGroups(other, { limit: 10 });
  const open = rows.flatMap(({ quarantines }) => quarantines);
  expect(open).toMatchObject([
    { quarantine: { serverId, reason: expect.stringContaining('backup') }, votes: votes.length },
  ]);
  const quarantineIds = open.map(({ quarantine }) => quarantine._id);
  await decideHeld(other, { is: 'lift' }, { quarantineIds, until: clock.now() }, 'test');
  for (const _id of quarantineIds) await finishExclusion(other, _id, { settledMs: -HOUR });
  for (const { _id } of votes) {
    const vote = await other.votes.findOne({ _id, serverId });
    expect(vote).not.toHaveProperty('excludedAt');
    expect(vote?.delivery.state).toBe('unconfirmed');
  }
});

test('an exclusion that was finished while its votes were read before is carried out again, and so is an undoing', async () => {
  for (const _id of await unfinishedExclusions(other))
    await finishExclusion(other, _id, { settledMs: -HOUR });
  const { excluded, included } = halfDone;
  const isExcluded = async ({ _id }: Vote) => (await other.votes.findOne({ _id }))?.excludedAt !== undefined;
  expect([await isExcluded(excluded), await isExcluded(included)]).toEqual([true, false]);
});
