import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { eventSentences } from '../../src/events/discord/event-sentences.ts';
import { KIND_NAMES, type Kind, mailSetting, wantsMailOf } from '../../src/notifications/kinds.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { castVote } from '../support/casting.ts';
import { excludePlayer, excludeVotes, includeVotes } from '../support/exclusions.ts';
import { NOTICE_KINDS, type NotificationBench, notificationBench } from './notification-bench.ts';

/** The probes found the server offline since `since`, or online. */
async function probed({ deps, serverId, clock }: NotificationBench, since: Date | null) {
  const now = clock.now();
  const found = since
    ? { 'probe.status': 'offline' as const, 'probe.offlineSince': since }
    : { 'probe.status': 'online' as const, 'probe.offlineSince': null, 'probe.succeededAt': now };
  const checked = { 'probe.checkedAt': now, 'probe.intervalSeconds': 300 };
  await deps.servers.updateOne({ _id: serverId }, { $set: { ...found, ...checked } });
}

async function approvedReview({ deps, serverId }: NotificationBench, username: string, content?: string) {
  const { reviewId } = await writeReview(deps, {
    serverId,
    username,
    rating: 4,
    ...(content ? { content } : {}),
  });
  await moderateReview(deps, new ObjectId(reviewId), 'approved', 'test');
  return new ObjectId(reviewId);
}

/** The subjects on both channels. */
async function toldBy(bench: NotificationBench) {
  const mails = (await bench.mails()).map(({ subject }) => subject.replace('Alpha Craft: ', ''));
  const events = await bench.events();
  return { mails, events: events.map((event) => (event.text ?? eventSentences(event)).subject) };
}

const both = (...subjects: string[]) => ({ mails: subjects, events: subjects });

test('an owner is told once that a server is offline for ten minutes, and once that it is back', async () => {
  const bench = await notificationBench();
  const { clock, tell } = bench;
  const since = clock.now();
  clock.move(10 * MINUTE - 1_000);
  await probed(bench, since);
  expect(await tell()).toBe(0);
  clock.move(2_000);
  await Promise.all([tell(), tell(), tell()]);
  expect(await tell()).toBe(0);
  expect(await toldBy(bench)).toEqual(both('the server is offline'));
  expect(await bench.events()).toMatchObject([
    { type: 'server.offline', data: { since: since.toISOString() } },
  ]);
  clock.move(2 * HOUR);
  await probed(bench, null);
  expect(await tell()).toBe(2);
  expect(await tell()).toBe(0);
  expect(await toldBy(bench)).toEqual(both('the server is offline', 'the server is online again'));
  const [, online] = await bench.events();
  expect(online).toMatchObject({ type: 'server.online', data: { since: since.toISOString() } });
  expect(online?.data.offline_seconds).toBeGreaterThan(2 * 3_600);
  expect(online && eventSentences(online).paragraphs[0]).toContain('for 2 hours');
});

test('unknown is not offline: without fresh checks, or with fresh reports, nobody is told', async () => {
  const bench = await notificationBench();
  const { clock, deps, serverId, tell } = bench;
  const since = clock.now();
  await probed(bench, since);
  clock.move(HOUR);
  expect(await tell()).toBe(0);
  await probed(bench, since);
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { lastReport: { id: '00000000-0000-4000-8000-000000000000', at: clock.now() } as never } },
  );
  expect(await tell()).toBe(0);
});

test('a server that comes and goes gives one mail a day and each event; one offline for days none at all', async () => {
  const bench = await notificationBench();
  const { clock, tell } = bench;
  for (let n = 0; n < 5; n += 1) {
    await probed(bench, after(clock.now(), -HOUR));
    await tell();
    await probed(bench, null);
    await tell();
    clock.move(2 * HOUR);
  }
  const { mails, events } = await toldBy(bench);
  expect(mails).toEqual(['the server is offline', 'the server is online again']);
  expect(events).toEqual(Array(5).fill(mails).flat());
  clock.move(DAY);
  await probed(bench, after(clock.now(), -2 * DAY));
  expect(await tell()).toBe(0);
});

test('a crash between the message and the record gives no second message', async () => {
  const bench = await notificationBench();
  const { clock, tell, deps } = bench;
  await probed(bench, after(clock.now(), -HOUR));
  await approvedReview(bench, 'Steve');
  expect(await tell()).toBe(3);
  await deps.serverNotices.deleteMany({});
  await deps.reviews.updateMany({}, { $unset: { toldAt: '' } });
  expect(await tell()).toBe(0);
  expect(await deps.events.countDocuments()).toBe(2);
  expect(await deps.mails.countDocuments()).toBe(2);
});

test('an owner is told of a review when it is approved, not before, and not of its edits', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  await writeReview(deps, { serverId, username: 'Alex', rating: 1 });
  expect(await tell()).toBe(0);
  const reviewId = await approvedReview(bench, '*Steve*', '@everyone **look**: [here](https://evil.example)');
  expect(await tell()).toBe(1);
  await moderateReview(deps, reviewId, 'pending', 'test');
  clock.move(MINUTE);
  await moderateReview(deps, reviewId, 'approved', 'test');
  expect(await tell()).toBe(0);
  expect(await toldBy(bench)).toEqual(both('a new review, 4 of 5 stars'));
  expect((await bench.mails())[0]?.text).toContain('*Steve* writes: “@everyone **look**:');
  const [event] = await bench.events();
  expect(event).toMatchObject({ type: 'review.published', reviewId, data: { rating: 4 } });
  expect(JSON.stringify(event)).not.toMatch(/Steve|everyone/);
});

test('a review that was approved days ago, such as before an upgrade, is not told of', async () => {
  const bench = await notificationBench();
  await approvedReview(bench, 'Steve');
  bench.clock.move(3 * DAY);
  expect(await bench.tell()).toBe(0);
});

test('an owner is told that votes are excluded, and that they count again', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  for (const username of ['Steve', 'Alex']) await castVote(deps, { serverId, username, tokenId: null });
  clock.move(MINUTE);
  const range = { serverId, since: after(clock.now(), -HOUR), until: clock.now(), tokenId: null };
  const reasons = { reason: 'secret of the operator', reasonForOwner: 'A *flood* from one network' };
  const { _id } = await excludeVotes(deps, { ...range, ...reasons }, 'cli', { settledMs: -DAY });
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  await includeVotes(deps, _id, 'cli', { settledMs: -DAY });
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  expect(await toldBy(bench)).toEqual(both('2 votes excluded', '2 votes counted again'));
  const mails = await bench.mails();
  expect(mails[0]?.text).toContain('The operator’s reason: “A *flood* from one network”');
  const events = await bench.events();
  expect(events.map(({ data }) => data)).toEqual([
    { votes: 2, decision: 'excluded' },
    { votes: 2, decision: 'included' },
  ]);
  expect(JSON.stringify([mails, events])).not.toContain('secret of the operator');
});

test('all votes of a player have no first time, so a notification names only the last', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  await castVote(deps, { serverId, username: 'Steve', tokenId: null });
  clock.move(MINUTE);
  const range = { username: 'steve', serverId: null, since: null, until: clock.now() };
  await excludePlayer(deps, { ...range, reason: 'A bot' }, 'cli', { settledMs: -DAY });
  expect(await tell()).toBe(1);
  expect((await bench.mails())[0]?.text).toMatch(/excluded 1 vote of the player “.*”, cast before \d/);
  const [event] = await bench.events();
  expect(event?.text?.paragraphs[0]).toMatch(/excluded 1 vote, cast before \d/);
  expect(JSON.stringify(event)).not.toMatch(/steve/i);
});

function listener({ serverId, clock }: NotificationBench) {
  return {
    _id: new ObjectId(),
    serverId,
    protocol: 'votifier-v2' as const,
    host: '127.0.0.1',
    port: 8_192,
    url: null,
    sealedSecret: 'x',
    previousSecret: null,
    serviceName: 'x',
    revision: 1,
    createdAt: clock.now(),
    updatedAt: clock.now(),
    pause: null,
    breaker: { failures: 0, tests: 0 },
    voteFaults: 0,
    lastDeliveredAt: null,
    limited: null,
    released: null,
    resendOwed: null,
    lease: null,
  };
}

test('the listener’s failure and its return are events too, without what it answered', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  const pause = { at: clock.now(), by: 'tallyport', code: 'bad-signature', words: '`@everyone`' } as const;
  await deps.listeners.insertOne({ ...listener(bench), pause });
  expect(await tell()).toBe(2);
  expect(await tell()).toBe(0);
  clock.move(MINUTE);
  await deps.listeners.updateOne({ serverId }, { $set: { pause: null, lastDeliveredAt: clock.now() } });
  expect(await tell()).toBe(2);
  expect(await tell()).toBe(0);
  expect(await toldBy(bench)).toEqual(both('its vote listener is paused', 'its vote listener is back'));
  expect((await bench.mails())[0]?.text).toContain('“`@everyone`”');
  const events = await bench.events();
  expect(events).toMatchObject([
    { type: 'listener.down', data: { reason: 'paused' } },
    { type: 'listener.back', data: { since: events[0]?.data.since } },
  ]);
  expect(JSON.stringify(events)).not.toContain('@everyone');
});

test('a listener that comes and goes gives one mail a day, and subscriptions each outage', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  await deps.listeners.insertOne(listener(bench));
  for (let n = 0; n < 3; n += 1) {
    const openSince = clock.now();
    const breaker = { failures: 3, openSince, tests: 0, nextTestAt: openSince, code: 'connection-refused' };
    await deps.listeners.updateOne({ serverId }, { $set: { breaker } as never });
    clock.move(HOUR + MINUTE);
    await tell();
    await tell();
    const back = { breaker: { failures: 0, tests: 0 }, lastDeliveredAt: clock.now() };
    await deps.listeners.updateOne({ serverId }, { $set: back });
    clock.move(MINUTE);
    await tell();
    await tell();
  }
  const told = ['its vote listener cannot be reached', 'its vote listener is back'];
  expect(await toldBy(bench)).toEqual({ mails: told, events: [...told, ...told, ...told] });
});

test('a pause that a subscription was not told of has no end for it', async () => {
  const bench = await notificationBench();
  const { deps, serverId, tell, clock } = bench;
  await deps.subscriptions.updateOne({ serverId }, { $set: { kinds: ['listener.back'] } });
  const pause = { at: clock.now(), by: 'tallyport' as const, code: 'bad-signature' as const };
  await deps.listeners.insertOne({ ...listener(bench), pause });
  await tell();
  clock.move(MINUTE);
  await deps.listeners.updateOne({ serverId }, { $set: { pause: null, lastDeliveredAt: clock.now() } });
  await tell();
  expect((await toldBy(bench)).events).toEqual([]);
});

test.each(KIND_NAMES)('the mails of a user without %s are those of all other kinds', (kind) => {
  const others = KIND_NAMES.filter((one) => one !== kind);
  expect(KIND_NAMES.filter((one) => wantsMailOf(mailSetting(others), one))).toEqual(others);
});

test.each([
  'server',
  'review',
  'listener',
] as const)('a user switches mail of the kind %s off alone, and a subscription wants its own kinds', async (kind) => {
  const others = KIND_NAMES.filter((one) => one !== kind);
  const bench = await notificationBench({ user: mailSetting(others) });
  const { deps, serverId, ownerId } = bench;
  await probed(bench, after(bench.clock.now(), -HOUR));
  await approvedReview(bench, 'Steve');
  await bench.tell();
  const expected = ['a new review, 4 of 5 stars', 'the server is offline'];
  const without: Partial<Record<Kind, string[]>> = {
    server: ['a new review, 4 of 5 stars'],
    review: ['the server is offline'],
  };
  const { mails, events } = await toldBy(bench);
  expect(mails.toSorted()).toEqual(without[kind] ?? expected);
  expect(events.toSorted()).toEqual(expected);
  // The other way round.
  await deps.users.updateOne({ _id: ownerId }, { $set: mailSetting(KIND_NAMES) });
  const kinds = NOTICE_KINDS.filter((one) => kind !== 'review' || one !== 'review.published');
  await deps.subscriptions.updateOne({ serverId }, { $set: { kinds } });
  await approvedReview(bench, 'Alex');
  await bench.tell();
  const later = await toldBy(bench);
  // The outage goes on, and now they want to know.
  expect(later.mails).toHaveLength(mails.length + (kind === 'server' ? 2 : 1));
  expect(later.events).toHaveLength(events.length + (kind === 'review' ? 0 : 1));
});

test('who wants no mail at all gets none of a kind that a later version adds', () => {
  expect(wantsMailOf({ wantsMail: false, mailOff: [] }, 'review')).toBe(false);
  expect(mailSetting([])).toMatchObject({ wantsMail: false });
  // A user of an earlier version has no list.
  expect(wantsMailOf({ wantsMail: true }, 'review')).toBe(true);
});

test('a server without an owner’s mail still has its subscriptions, and one without both costs nothing', async () => {
  const bench = await notificationBench({ user: { emailVerified: false } });
  await approvedReview(bench, 'Steve');
  expect(await bench.tell()).toBe(1);
  expect(await toldBy(bench)).toEqual({ mails: [], events: ['a new review, 4 of 5 stars'] });
  await bench.deps.subscriptions.deleteMany({});
  await approvedReview(bench, 'Alex');
  expect(await bench.tell()).toBe(0);
});

test('events are stored without a mail server', async () => {
  const bench = await notificationBench({ env: { SMTP_URL: '' } });
  await approvedReview(bench, 'Steve');
  expect(await bench.tell()).toBe(1);
  expect(await bench.deps.mails.countDocuments()).toBe(0);
});

test('nobody is told about a server of a suspended owner, nor about a removed server', async () => {
  const bench = await notificationBench({ user: { suspendedAt: new Date() } });
  await approvedReview(bench, 'Steve');
  expect(await bench.tell()).toBe(0);
  const other = await notificationBench();
  await approvedReview(other, 'Steve');
  await other.deps.servers.updateOne({ _id: other.serverId }, { $set: { removedAt: new Date() } });
  expect(await other.tell()).toBe(0);
});

test('above twenty an hour mails are counted in one later mail; events are stored all', async () => {
  const bench = await notificationBench();
  const { clock, tell, deps } = bench;
  for (let n = 0; n < 23; n += 1) await approvedReview(bench, `player ${n}`);
  await tell();
  expect(await tell()).toBe(0);
  const first = await toldBy(bench);
  expect(first.events).toHaveLength(23);
  expect(first.mails.filter((one) => one.startsWith('a new'))).toHaveLength(23);
  expect((await bench.mails()).filter(({ text }) => text !== '')).toHaveLength(20);
  expect(await deps.mails.countDocuments({ heldAt: { $exists: true } })).toBe(3);
  clock.move(HOUR + MINUTE);
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  const later = await toldBy(bench);
  expect(later.events).toHaveLength(23);
  expect(later.mails.filter((one) => one === '3 more')).toHaveLength(1);
});

test('an owner who switched all mails off gets no mail about those that were held back', async () => {
  const bench = await notificationBench();
  const { clock, tell, deps, ownerId } = bench;
  for (let n = 0; n < 21; n += 1) await approvedReview(bench, `player ${n}`);
  await tell();
  await deps.users.updateOne({ _id: ownerId }, { $set: mailSetting([]) });
  clock.move(HOUR + MINUTE);
  expect(await tell()).toBe(0);
  expect((await toldBy(bench)).mails).not.toContain('1 more');
});

test('every mail about a server ends with where to choose the mails', async () => {
  const bench = await notificationBench();
  await probed(bench, after(bench.clock.now(), -HOUR));
  await approvedReview(bench, 'Steve');
  await bench.tell();
  const letters = await bench.mails();
  expect(letters).toHaveLength(2);
  for (const { text } of letters)
    expect(text).toMatch(
      /To choose which mails you get: https:\/\/example\.org\/listing\/account#notifications$/,
    );
});
