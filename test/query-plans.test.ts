/**
 * Design rule 13: with 1,000 servers of data, the keys and documents (buckets, in a time series) that each query
 * of a request examines are at most 3 times those it returns, plus 10. MongoDB's profiler says what each
 * operation really did.
 */
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listPeople, searchPeople, showPerson } from '../src/accounts/find-people.ts';
import { after, DAY, HOUR, MINUTE } from '../src/clock.ts';
import { setListener } from '../src/delivery/listeners.ts';
import { dayOf } from '../src/periods/period-marks.ts';
import { VotifierListener } from '../src/sample/votifier-listener.ts';
import { issueToken } from '../src/servers/api-tokens.ts';
import { makeToken } from '../src/servers/token-text.ts';
import { historyOf, uptimeDays } from '../src/status/history.ts';
import { insert, NOTHING, probe } from './status/samples.ts';
import { addPast } from './support/crowd.ts';
import { startPlatform, type TestPlatform, type TestServer } from './support/platform.ts';

const SERVERS = 1_000;

let tallyport: TestPlatform;
/** Has far more of everything than the others. */
let busy: TestServer;
let other: TestServer;

beforeAll(async () => {
  tallyport = await startPlatform();
  const { platform, clock } = tallyport;
  busy = await tallyport.addServer({ name: 'Busy' });
  other = await tallyport.addServer({ name: 'Other' });
  const model = await platform.servers.findOne({ _id: busy.serverId });
  if (!model) throw new Error('not added');
  const { _id: _, slug: __, ...rest } = model;
  const crowd = Array.from({ length: SERVERS - 2 }, (_, i) => ({ ...rest, slug: `server-${i}` }));
  const { insertedIds } = await platform.servers.insertMany(crowd as never);
  const ids = Object.values(insertedIds);
  const now = clock.now();
  await addPast(platform, ids, now, { votes: 20, months: 6, samples: 10, reviews: 5, keys: 2 });
  await addPast(platform, [busy.serverId], now, {
    votes: 1_000,
    months: 24,
    samples: 800,
    reviews: 300,
    keys: 500,
  });
  // As they come in, oldest first: 28 days of an hourly probe, and 2 of one every 5 minutes.
  const from = after(now, -30 * DAY);
  const hourly = Array.from({ length: 28 * 24 }, (_, i) => after(from, i * HOUR));
  const often = Array.from({ length: 2 * 288 }, (_, i) => after(now, 5 * i * MINUTE - 2 * DAY));
  await insert(
    platform,
    [...hourly, ...often].map((at) => probe(other.serverId, at)),
  );
  const days = Array.from({ length: 60 }, (_, i) => dayOf(after(now, -(i + 1) * DAY)));
  const stats = [busy.serverId, ...ids].flatMap((serverId) => {
    return days.map((day) => ({ serverId, day, probes: NOTHING, reports: NOTHING }));
  });
  await platform.dailyStats.insertMany(stats as never);
  for (let i = 0; i < 50; i++) {
    await issueToken(platform, { serverId: busy.serverId, name: `token ${i}` });
    const serverId = ids[i] ?? other.serverId;
    await issueToken(platform, { serverId, name: 'plugin' });
  }
  const secret = new VotifierListener().token;
  const settings = { protocol: 'votifier-v2', host: 'play.example.org', port: 8_192, secret } as const;
  for (const serverId of [busy.serverId, ...ids]) {
    await setListener(platform, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  }
  const people = Array.from({ length: SERVERS }, (_, i) => ({
    name: `Person ${i}`,
    email: `person-${i}@example.org`,
    emailVerified: true,
    createdAt: after(now, -Math.floor(i / 4) * MINUTE),
    updatedAt: now,
    role: i % 50 ? ('owner' as const) : ('operator' as const),
    twoFactorEnabled: false,
    wantsMail: true,
  }));
  await platform.people.insertMany(people as never);
  // The first request asks for the indexes; the others do not.
  await tallyport.call(busy, 'info');
}, 180_000);
afterAll(() => tallyport.close());

/** The operations on the database that `request` makes, the note of the token's use included. */
function operationsOf(request: () => Promise<{ status: number }>, status: number): Promise<Document[]> {
  const { db } = tallyport.platform.mongo;
  tallyport.clock.move(2 * MINUTE);
  return profiled(async () => {
    expect((await request()).status).toBe(status);
    if (status === 401) return;
    const noted = { ns: `${db.databaseName}.api_tokens`, op: 'update' };
    await expect.poll(() => db.collection('system.profile').findOne(noted)).not.toBeNull();
  });
}

async function profiled(work: () => Promise<unknown>): Promise<Document[]> {
  const { db } = tallyport.platform.mongo;
  const profile = db.collection('system.profile');
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  const own = { ns: { $not: /system\.profile$/ }, 'command.profile': { $exists: false } };
  const operations = await profile.find(own).sort({ ts: 1 }).toArray();
  await profile.drop();
  return operations;
}

const put = (operation: Document) => `${operation.op} ${String(operation.ns).split('.').slice(1).join('.')}`;

const vote = (username: string, key?: string) => () =>
  tallyport.vote(busy, username, key ? { 'idempotency-key': key } : {});
const REPORT = { online_players: 1, max_players: 2, latency_ms: 3 };
const AUTHENTICATION = ['query api_tokens', 'query servers', 'update api_tokens'];

const REQUESTS: [string, number, () => Promise<{ status: number }>, string[]][] = [
  [
    'a vote',
    200,
    vote('Newcomer'),
    ['query votes', 'query listeners', 'insert votes', 'command vote_counters'],
  ],
  [
    'a vote of a player with a long past',
    200,
    vote('Steve'),
    ['query votes', 'query votes', 'query listeners', 'insert votes', 'command vote_counters'],
  ],
  ['a vote that is refused', 429, vote('Steve'), ['query votes', 'query votes', 'query listeners']],
  [
    'a vote under a key',
    200,
    vote('Alex', 'new'),
    [
      'insert idempotency_keys',
      'query votes',
      'query votes',
      'query listeners',
      'insert votes',
      'command vote_counters',
      'update idempotency_keys',
    ],
  ],
  ['a replay', 200, vote('Alex', 'new'), ['insert idempotency_keys', 'query idempotency_keys']],
  ['a key used again', 422, vote('Eve', 'new'), ['insert idempotency_keys', 'query idempotency_keys']],
  [
    'check-vote',
    200,
    () => tallyport.call(busy, 'check-vote?username=Steve'),
    ['query votes', 'query votes'],
  ],
  ['check-vote of nobody', 200, () => tallyport.call(busy, 'check-vote?username=Nobody'), ['query votes']],
  [
    'a report',
    200,
    () => tallyport.report(busy, REPORT),
    ['command servers', 'insert status_samples', 'command listeners'],
  ],
  [
    'a report that is refused',
    429,
    () => tallyport.report(busy, REPORT),
    ['command servers', 'query servers'],
  ],
  ['info', 200, () => tallyport.call(busy, 'info'), ['query vote_counters']],
  ['reviews', 200, () => tallyport.call(busy, 'reviews'), ['query review_lists', 'query reviews']],
  [
    'the last page of reviews',
    200,
    () => tallyport.call(busy, 'reviews?limit=50&page=6'),
    ['query review_lists', 'query reviews'],
  ],
  [
    'a page of one review',
    200,
    () => tallyport.call(busy, 'reviews?limit=1&page=300'),
    ['query review_lists', 'query reviews'],
  ],
  ['a page past the end', 200, () => tallyport.call(busy, 'reviews?page=99'), ['query review_lists']],
];

test.each(REQUESTS)('%s', async (_, status, request, expected) => {
  const operations = await operationsOf(request, status);
  expect(operations.map(put).toSorted()).toEqual([...AUTHENTICATION, ...expected].toSorted());
  for (const operation of operations) expectIndexed(operation);
});

test.each([
  ['an unknown token', () => ({ ...busy, token: makeToken() })],
  ['a token of another server', () => ({ ...busy, token: other.token })],
])('a call with %s', async (_, caller) => {
  const operations = await operationsOf(() => tallyport.call(caller(), 'info'), 401);
  expect(operations.map(put).toSorted()).toEqual(['query api_tokens', 'query servers']);
  for (const operation of operations) expectIndexed(operation);
});

test.each([
  ['the newest samples of a chart', '48h', ['query status_samples', 'getmore status_samples']],
  ['the hours of a chart', '30d', ['query servers', 'command status_samples', 'getmore status_samples']],
  ['the days of a chart', 'all', ['query servers', 'query daily_stats']],
] as const)('%s', async (_, range, expected) => {
  const operations = await profiled(() => historyOf(tallyport.platform, other.serverId, range));
  expect([...new Set(operations.map(put))]).toEqual(expected);
  for (const operation of operations) expectIndexed(operation);
});

test('the thirty days of uptime', async () => {
  const operations = await profiled(() => uptimeDays(tallyport.platform, busy.serverId));
  expect(operations.map(put)).toEqual(['query servers', 'query daily_stats']);
  for (const operation of operations) expectIndexed(operation);
});

test.each([
  ['the newest people', () => listPeople(tallyport.platform, { limit: 50 })],
  [
    'a later page of people',
    async () => {
      const { next } = await listPeople(tallyport.platform, { limit: 50 });
      return listPeople(tallyport.platform, { limit: 50, after: next ?? undefined });
    },
  ],
  ['the operators', () => listPeople(tallyport.platform, { role: 'operator', limit: 50 })],
  ['a search for people', () => searchPeople(tallyport.platform, 'PERSON-7', 50)],
  ['a search for people by name', () => searchPeople(tallyport.platform, 'person 71', 50)],
  [
    'one person',
    async () => {
      const somebody = await tallyport.platform.people.findOne({ email: 'person-500@example.org' });
      return showPerson(tallyport.platform, somebody?._id ?? busy.serverId);
    },
  ],
])('%s', async (_, look) => {
  const operations = await profiled(look);
  expect(operations.length).toBeGreaterThan(0);
  for (const operation of operations) expectIndexed(operation);
});

function expectIndexed(operation: Document): void {
  const { keysExamined = 0, docsExamined = 0, nreturned, nMatched, ninserted } = operation;
  const affected = nreturned ?? nMatched ?? ninserted ?? 0;
  const figures = JSON.stringify({ keysExamined, docsExamined, affected, plan: operation.planSummary });
  const what = `${put(operation)} ${figures}`;
  expect(operation.planSummary ?? '', what).not.toContain('COLLSCAN');
  expect(Math.max(keysExamined, docsExamined), what).toBeLessThanOrEqual(3 * affected + 10);
}
