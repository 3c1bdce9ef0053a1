import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

const NOW = new Date('2026-11-20T08:00:00.250Z');
const REPORT = { online_players: 42, max_players: 100 };
const info = async (server: Parameters<TestDeps['report']>[0]) => (await tallyport.call(server, 'info')).body;
const samples = ({ serverId }: Parameters<TestDeps['report']>[0]) =>
  tallyport.deps.statusSamples.find({ serverId }).toArray();

test('a report becomes the current figures and a sample of the history', async () => {
  const server = await tallyport.addServer();
  tallyport.clock.stop(NOW);
  const answer = await tallyport.report(server, {
    ...REPORT,
    latency_ms: 23.456,
    motd: '§aHello\nworld 🦑',
    server_version: 'Paper 1.21.4',
    unknown_field: { ignored: true },
  });
  expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
  expect(answer.headers.get('ratelimit-policy')).toBe('"status";q=1;w=300');
  expect(answer.headers.get('ratelimit')).toBe('"status";r=0;t=300');
  expect(await info(server)).toMatchObject({
    status: 'online',
    online_players: 42,
    max_players: 100,
    latency_ms: 23.46,
    motd: '§aHello\nworld 🦑',
    server_version: 'Paper 1.21.4',
    last_checked_at: '2026-11-20T08:00:00.250Z',
  });
  expect(await samples(server)).toEqual([
    {
      _id: expect.anything(),
      at: NOW,
      serverId: server.serverId,
      source: 'report',
      seconds: 0,
      status: 'online',
      onlinePlayers: 42,
      maxPlayers: 100,
      latencyMs: 23.456,
    },
  ]);
});

test('an optional field that is absent, null or negative keeps its last value', async () => {
  const server = await tallyport.addServer();
  tallyport.clock.stop(NOW);
  await tallyport.report(server, { ...REPORT, latency_ms: 20, motd: 'Hello', server_version: '1.21' });
  for (const fields of [{}, { latency_ms: null, motd: null, server_version: null }, { latency_ms: -1 }]) {
    tallyport.clock.move(5 * MINUTE);
    expect((await tallyport.report(server, { ...REPORT, ...fields })).status).toBe(200);
    expect(await info(server)).toMatchObject({ latency_ms: 20, motd: 'Hello', server_version: '1.21' });
  }
  expect((await samples(server)).map(({ latencyMs }) => latencyMs)).toEqual([20, null, null, null]);

  tallyport.clock.move(5 * MINUTE);
  await tallyport.report(server, { ...REPORT, latency_ms: 0, motd: '', server_version: '' });
  expect(await info(server)).toMatchObject({ latency_ms: 0, motd: '', server_version: '' });
});

test('max_players −1 means "no limit" and is stored as 0; it may be below online_players', async () => {
  const server = await tallyport.addServer();
  await tallyport.report(server, { online_players: 2_147_483_647, max_players: -1 });
  expect(await info(server)).toMatchObject({ online_players: 2_147_483_647, max_players: 0 });
});

test('a second report within 5 minutes is refused completely, with the time of the next', async () => {
  const server = await tallyport.addServer();
  const other = await tallyport.addServer();
  tallyport.clock.stop(NOW);
  await tallyport.report(server, REPORT);
  tallyport.clock.stop(after(NOW, 5 * MINUTE - 1));
  const refused = await tallyport.report(server, { online_players: 1, max_players: 1, motd: 'late' });
  expect([refused.status, refused.body]).toMatchObject([
    429,
    {
      code: 'too-early',
      error:
        'This server reported its status less than 5 minutes ago: the next report is allowed at 2026-11-20T08:05:00.250Z.',
      next_allowed_at: '2026-11-20T08:05:00.250Z',
    },
  ]);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.headers.get('ratelimit')).toBe('"status";r=0;t=1');
  expect(await info(server)).toMatchObject({ online_players: 42, max_players: 100, motd: '' });
  expect(await samples(server)).toHaveLength(1);
  expect((await tallyport.report(other, REPORT)).status).toBe(200);

  tallyport.clock.stop(after(NOW, 5 * MINUTE));
  expect((await tallyport.report(server, REPORT)).status).toBe(200);
});

test('exactly one of concurrent reports is accepted', async () => {
  const server = await tallyport.addServer();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, players) =>
      tallyport.report(server, { online_players: players, max_players: players, motd: String(players) }),
    ),
  );
  const taken = answers.flatMap(({ status }, players) => (status === 200 ? [players] : []));
  expect(taken).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(39);
  const [players] = taken;
  expect(await info(server)).toMatchObject({
    online_players: players,
    max_players: players,
    motd: String(players),
  });
  expect(await samples(server)).toHaveLength(1);
});

describe('a report is refused', () => {
  const players = (minimum: number) => `is required and must be a whole number, ${minimum} to 2147483647.`;
  test.each([
    ['without players', { max_players: 1 }, `online_players ${players(0)}`],
    ['without a maximum', { online_players: 1 }, `max_players ${players(-1)}`],
    ['null players', { ...REPORT, online_players: null }, `online_players ${players(0)}`],
    ['negative players', { ...REPORT, online_players: -1 }, `online_players ${players(0)}`],
    ['a fraction', { ...REPORT, online_players: 1.5 }, `online_players ${players(0)}`],
    ['digits in a string', { ...REPORT, online_players: '1' }, `online_players ${players(0)}`],
    ['true', { ...REPORT, online_players: true }, `online_players ${players(0)}`],
    ['too many', { ...REPORT, online_players: 2_147_483_648 }, `online_players ${players(0)}`],
    ['a maximum of −2', { ...REPORT, max_players: -2 }, `max_players ${players(-1)}`],
    ['far too many', { ...REPORT, max_players: 1e300 }, `max_players ${players(-1)}`],
    ['latency in a string', { ...REPORT, latency_ms: '20' }, 'latency_ms must be a number, at most 600000.'],
    ['latency', { ...REPORT, latency_ms: 600_000.5 }, 'latency_ms must be a number, at most 600000.'],
    ['a motd that is none', { ...REPORT, motd: 5 }, 'motd must be a string.'],
    ['a long motd', { ...REPORT, motd: '🦑'.repeat(501) }, 'motd must have at most 500 characters.'],
    [
      'an unpaired surrogate',
      { ...REPORT, motd: '\udc00' },
      'motd must be valid Unicode: it has an unpaired surrogate.',
    ],
    [
      'a long version',
      { ...REPORT, server_version: 'x'.repeat(101) },
      'server_version must have at most 100 characters.',
    ],
    [
      'two errors',
      { online_players: 'x', max_players: 'y' },
      `online_players ${players(0)} max_players ${players(-1)}`,
    ],
  ])('%s', async (_, body, error) => {
    const answer = await tallyport.report(await tallyport.addServer(), body);
    expect([answer.status, answer.body]).toMatchObject([400, { error, code: 'malformed' }]);
  });
});

test.each([
  ['the largest values', { online_players: 0, max_players: 2_147_483_647, latency_ms: 600_000 }],
  ['500 code points of motd', { ...REPORT, motd: '🦑'.repeat(500) }],
  ['100 code points of version', { ...REPORT, server_version: '🦑'.repeat(100) }],
  ['control characters in a motd', { ...REPORT, motd: '\u0000\u001b[31m' }],
])('a report is accepted: %s', async (_, body) => {
  expect((await tallyport.report(await tallyport.addServer(), body)).status).toBe(200);
});

test('a refused report does not use up the five minutes', async () => {
  const server = await tallyport.addServer();
  expect((await tallyport.report(server, {})).status).toBe(400);
  expect((await tallyport.report(server, REPORT)).status).toBe(200);
});
