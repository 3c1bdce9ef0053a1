/**
 * Design rule 13: with 1,000 servers of data, the keys and documents (buckets, in a time series) that each query
 * of a request examines are at most 3 times those it returns, plus 10. MongoDB's profiler says what each
 * operation really did.
 */
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { after, DAY, HOUR, MINUTE } from '../src/clock.ts';
import { COUNTED_AT_MOST } from '../src/delivery/count-votes.ts';
import { diagnoseForOwner } from '../src/delivery/diagnose-for-owner.ts';
import { listenerOverview } from '../src/delivery/listener-overview.ts';
import { setListener, showListener } from '../src/delivery/listeners.ts';
import { outcome } from '../src/delivery/outcomes.ts';
import { voteTimeline } from '../src/delivery/vote-timeline.ts';
import { dayOf } from '../src/periods/period-marks.ts';
import { VotifierListener } from '../src/sample/votifier-listener.ts';
import { issueToken } from '../src/servers/api-tokens.ts';
import { makeToken } from '../src/servers/token-text.ts';
import { historyOf, uptimeDays } from '../src/status/history.ts';
import { pageOfVotes, type VotesWanted } from '../src/votes/vote-pages.ts';
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

test('an operator’s page of a listener with many votes, and the second page of a state', async () => {
  const { platform } = tallyport;
  const listener = await platform.listeners.findOne({ serverId: busy.serverId });
  if (!listener) throw new Error('not set');
  const read = (page: Parameters<typeof listenerOverview>[2]) =>
    profiled(() => listenerOverview(platform, listener._id, page));
  const first = await listenerOverview(platform, listener._id, { state: 'delivered' });
  for (const page of [{}, { state: 'delivered' as const, from: first?.next ?? undefined }]) {
    const operations = await read(page);
    const expected = ['command votes', 'query listeners', 'query servers', 'query votes', 'query votes'];
    expect(operations.map(put).toSorted()).toEqual(expected);
    for (const operation of operations) expectIndexed(operation);
  }
});

test.each<[string, VotesWanted & { recent?: boolean }, number]>([
  ['of all votes', {}, 50],
  ['of a state', { state: 'delivered' }, 50],
  ['of a state and some days', { state: 'delivered', recent: true }, 1],
  ['of a player', { player: 'STEVE' }, 20],
  ['of a player, a state and some days', { player: 'Steve', state: 'failed', recent: true }, 0],
])('an owner’s page %s, and the next one', async (_, { recent, ...wanted }, atLeast) => {
  const { platform, clock } = tallyport;
  const range = recent ? { since: after(clock.now(), -40 * DAY), until: clock.now() } : {};
  const from = (await pageOfVotes(platform, busy.serverId, { ...wanted, ...range })).next ?? undefined;
  for (const begins of [undefined, from]) {
    const read = async () => {
      const { votes } = await pageOfVotes(platform, busy.serverId, { ...wanted, ...range }, begins);
      if (!begins) expect(votes.length).toBeGreaterThanOrEqual(atLeast);
    };
    const operations = await profiled(read);
    expect(operations.map(put)).toEqual(['query votes']);
    for (const operation of operations) expectIndexed(operation);
  }
});

test('how a server’s listener stands, and one vote with its timeline', async () => {
  const { platform, clock } = tallyport;
  const { serverId } = busy;
  const shown = await profiled(() => showListener(platform, serverId, COUNTED_AT_MOST));
  expect(shown.map(put)).toEqual(['query listeners', 'command votes']);
  const vote = await platform.votes.findOne({ serverId });
  if (!vote) throw new Error('no vote');
  const told = await profiled(() => voteTimeline(platform, vote, null, clock.now()));
  const found = await profiled(() => platform.votes.findOne({ serverId, _id: vote._id }));
  for (const operation of [...shown, ...told, ...found]) expectIndexed(operation);
});

test('a diagnosis for an owner', async () => {
  const { platform } = tallyport;
  const deps = { ...platform, send: async () => outcome('acknowledged', 'acknowledged') };
  const request = { ownerId: 'owner', serverId: busy.serverId, proven: true };
  const ask = () => diagnoseForOwner(deps, request);
  const crowd = Array.from({ length: 1_000 }, (_, n) => {
    return { _id: `owner ${n}`, askedAt: [platform.clock.now()], expiresAt: platform.clock.now() };
  });
  await platform.diagnosisAllowances.insertMany(crowd);
  const taken = await profiled(ask);
  expect(taken.map(put)).toEqual(['query servers', 'query listeners', 'update diagnosis_allowances']);
  for (let n = 1; n < 6; n += 1) await ask();
  const refused = await profiled(ask);
  expect(refused.map(put)).toContain('query diagnosis_allowances');
  for (const operation of [...taken, ...refused]) expectIndexed(operation);
});

function expectIndexed(operation: Document): void {
  const { keysExamined = 0, docsExamined = 0, nreturned, nMatched, ninserted } = operation;
  const affected = nreturned ?? nMatched ?? ninserted ?? 0;
  const figures = JSON.stringify({ keysExamined, docsExamined, affected, plan: operation.planSummary });
  const what = `${put(operation)} ${figures}`;
  expect(operation.planSummary ?? '', what).not.toContain('COLLSCAN');
  expect(Math.max(keysExamined, docsExamined), what).toBeLessThanOrEqual(3 * affected + 10);
}
