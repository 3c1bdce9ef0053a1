import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

const info = async (server: TestServer) => (await tallyport.call(server, 'info')).body;

test('a new server has all fields, with the values for unknown data', async () => {
  const now = new Date('2026-11-20T08:00:00.250Z');
  tallyport.clock.stop(now);
  const first = await tallyport.addServer({ name: 'Alpha', address: 'alpha.example.org', port: 25_566 });
  expect(await info(first)).toEqual({
    name: 'Alpha',
    slug: 'alpha',
    address: 'alpha.example.org',
    connection_port: 25_566,
    country_code: 'ZZ',
    status: 'unknown',
    online_players: 0,
    max_players: 0,
    average_players: 0,
    peak_players: 0,
    latency_ms: null,
    average_latency: null,
    uptime_percentage: null,
    motd: '',
    server_version: '',
    votes_count: 0,
    monthly_votes: 0,
    all_time_votes: 0,
    rank_position: 1,
    is_premium: false,
    last_checked_at: null,
    date_added: '2026-11-20T08:00:00.250Z',
  });
  const second = await tallyport.addServer({ name: 'Alpha', countryCode: 'DE', isPremium: true });
  expect(await info(second)).toMatchObject({
    slug: 'alpha-2',
    rank_position: 2,
    country_code: 'DE',
    is_premium: true,
  });
});

test('the vote figures increase with each vote, and count 30 UTC days, the UTC month, and all time', async () => {
  const server = await tallyport.addServer();
  const figures = async () => {
    await tallyport.deps.voteCounts.flush();
    const { votes_count, monthly_votes, all_time_votes } = await info(server);
    return [votes_count, monthly_votes, all_time_votes];
  };
  tallyport.clock.stop(new Date('2026-10-22T23:59:59.999Z'));
  await tallyport.vote(server, 'A');
  expect(await figures()).toEqual([1, 1, 1]);
  tallyport.clock.stop(new Date('2026-10-23T00:00:00.000Z'));
  await tallyport.vote(server, 'B');
  expect(await figures()).toEqual([2, 2, 2]);
  tallyport.clock.stop(new Date('2026-11-20T23:59:59.999Z'));
  await tallyport.vote(server, 'C');
  expect(await figures()).toEqual([3, 1, 3]);
  // Today and the 29 days before: 22 October falls out on 21 November, 23 October a day later.
  tallyport.clock.stop(new Date('2026-11-21T00:00:00.000Z'));
  expect(await figures()).toEqual([2, 1, 3]);
  tallyport.clock.stop(new Date('2026-11-22T00:00:00.000Z'));
  expect(await figures()).toEqual([1, 1, 3]);
  tallyport.clock.stop(new Date('2027-01-01T00:00:00.000Z'));
  expect(await figures()).toEqual([0, 0, 3]);
});

test('15 minutes after the last report the status is unknown and latency is null; the rest keeps its value', async () => {
  const server = await tallyport.addServer();
  tallyport.clock.stop(new Date('2026-11-20T08:00:00.000Z'));
  const report = { online_players: 42, max_players: 100, latency_ms: 20, motd: 'Hi', server_version: '1.21' };
  await tallyport.report(server, report);
  tallyport.clock.move(15 * MINUTE - 1);
  expect(await info(server)).toMatchObject({ status: 'online', latency_ms: 20 });
  for (const wait of [1, 8 * DAY]) {
    tallyport.clock.move(wait);
    expect(await info(server)).toMatchObject({
      status: 'unknown',
      latency_ms: null,
      online_players: 42,
      max_players: 100,
      motd: 'Hi',
      server_version: '1.21',
      last_checked_at: '2026-11-20T08:00:00.000Z',
    });
  }
  await tallyport.report(server, { online_players: 1, max_players: 1 });
  expect(await info(server)).toMatchObject({ status: 'online', online_players: 1, latency_ms: 20 });
});

test('an offline server has no players online; numbers have at most two decimals', async () => {
  const server = await tallyport.addServer();
  await tallyport.report(server, { online_players: 42, max_players: 100, latency_ms: 20 });
  const probedAt = tallyport.clock.now();
  await tallyport.deps.servers.updateOne(
    { _id: server.serverId },
    {
      $set: {
        'probe.status': 'offline',
        'probe.checkedAt': probedAt,
        'probe.succeededAt': probedAt,
        'daily.averagePlayers': 12.345678,
        'daily.peakPlayers': 77,
        'daily.averageLatency': 0.005,
        'daily.uptimePercentage': 99.999,
      },
    },
  );
  expect(await info(server)).toMatchObject({
    status: 'offline',
    online_players: 0,
    max_players: 100,
    latency_ms: null,
    average_players: 12.35,
    peak_players: 77,
    average_latency: 0.01,
    uptime_percentage: 100,
  });
});

test('HEAD answers as GET does, without the body', async () => {
  const server = await tallyport.addServer();
  const got = await tallyport.call(server, 'info');
  const head = await tallyport.call(server, 'info', { method: 'HEAD' });
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
  expect((await tallyport.call({ ...server, token: 'x' }, 'info', { method: 'HEAD' })).status).toBe(401);
});

describe('the ETag of an answer', () => {
  test('identifies the answer: a client that sends it gets 304 until the answer changes', async () => {
    const server = await tallyport.addServer();
    for (const endpoint of ['info', 'reviews']) {
      const first = await tallyport.call(server, endpoint);
      const tag = first.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{27}"$/);
      for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*']) {
        const headers = { 'if-none-match': known };
        const { status, text, headers: answered } = await tallyport.call(server, endpoint, { headers });
        expect([status, text, answered.get('etag'), answered.get('content-type')]).toEqual([
          304,
          '',
          tag,
          null,
        ]);
      }
      const another = await tallyport.call(server, endpoint, { headers: { 'if-none-match': '"another"' } });
      expect([another.status, another.text]).toEqual([200, first.text]);
    }
    const before = await tallyport.call(server, 'info');
    await tallyport.vote(server, 'Steve');
    await tallyport.deps.voteCounts.flush();
    const headers = { 'if-none-match': before.headers.get('etag') ?? '' };
    expect((await tallyport.call(server, 'info', { headers })).body.monthly_votes).toBe(1);
  });

  test('is not on errors, and no error becomes 304', async () => {
    const server = await tallyport.addServer();
    const headers = { 'if-none-match': '*' };
    const refused = await tallyport.call({ ...server, token: 'none' }, 'info', { headers });
    expect([refused.status, refused.headers.get('etag')]).toEqual([401, null]);
    expect((await tallyport.call(server, 'reviews?page=0', { headers })).status).toBe(400);
  });
});
