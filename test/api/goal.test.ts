import { afterAll, beforeAll, expect, test } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { countGoal } from '../../src/goals/count-goal.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp({ TRUST_PROXY: '1' });
});
afterAll(() => tallyport.close());

let networks = 0;
/** Calls without a token, from a network of its own. */
const open = (id: unknown, headers: Record<string, string> = {}) =>
  ask(`${tallyport.url}/api/v1/servers/${id}/goal`, {
    headers: { 'x-forwarded-for': `203.0.113.${++networks}`, ...headers },
  });

test('the goal has the votes of its period, and each vote counts at once', async () => {
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  await setGoal(deps, server.serverId, { target: 3, period: 'week', text: 'A party' }, 'test');
  const goal = await deps.voteGoals.findOne({});
  await tallyport.vote(server, 'Steve');
  const { status, body, headers } = await tallyport.call(server, 'goal');
  expect(status).toBe(200);
  expect(body).toEqual({
    target: 3,
    period: 'week',
    votes: 1,
    percentage: 33.33,
    text: 'A party',
    since: goal?.since.toISOString(),
    reached_at: null,
    times_reached: 0,
  });
  expect(headers.get('ratelimit')).toBeNull();
  const tag = String(headers.get('etag'));
  expect((await tallyport.call(server, 'goal', { headers: { 'if-none-match': tag } })).status).toBe(304);

  for (const name of ['Alex', 'Ann', 'Ben']) await tallyport.vote(server, name);
  await countGoal(deps, server.serverId);
  const { body: later } = await tallyport.call(server, 'goal');
  expect(later).toMatchObject({ votes: 4, percentage: 133.33, times_reached: 1 });
  expect(Date.parse(String((later as { reached_at: string }).reached_at))).toBeGreaterThan(0);
});

test('a rolling goal is exact to two places', async () => {
  const server = await tallyport.addServer();
  await setGoal(tallyport.deps, server.serverId, { target: 100, period: 'rolling' }, 'test');
  const at = tallyport.clock.now();
  const counted = { from: at, until: at, votes: 57 };
  await tallyport.deps.voteGoals.updateOne({ serverId: server.serverId }, { $set: { counted } });
  expect((await tallyport.call(server, 'goal')).body).toMatchObject({
    votes: 57,
    percentage: 57,
    text: null,
  });
});

test('a server without a goal is 404 with its own code', async () => {
  const server = await tallyport.addServer();
  const { status, body } = await tallyport.call(server, 'goal');
  expect([status, body]).toMatchObject([404, { code: 'no-goal' }]);
  expect((await open(server.serverId)).body).toMatchObject({ code: 'no-goal' });
});

test('it works without a token while the server is listed; everything else is the same 401', async () => {
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  const other = await tallyport.addServer();
  const removed = await tallyport.addServer();
  for (const { serverId } of [server, other, removed])
    await setGoal(deps, serverId, { target: 3, period: 'day' }, 'test');
  expect((await open(server.serverId)).status).toBe(200);

  await hideServer(deps, other.serverId, { reason: 'Copy' }, 'test');
  await removeServer(deps, removed.serverId, 'test');
  const refused = await Promise.all([
    open(other.serverId),
    open(removed.serverId),
    open('0123456789abcdef01234567'),
    open('no-id'),
    open(server.serverId, { authorization: 'Bearer tp_wrong' }),
    open(server.serverId, { authorization: 'Basic eDp5' }),
    open(server.serverId, { authorization: '' }),
    open(server.serverId, { authorization: `Bearer ${other.token}` }),
  ]);
  for (const { status, body, headers } of refused) {
    expect([status, body]).toEqual([401, refused[0]?.body]);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  }
  // With its own token, a hidden server answers as the other endpoints do.
  expect((await tallyport.call(other, 'goal')).status).toBe(200);
  expect((await ask(`${tallyport.url}/api/v1/servers/${server.serverId}/info`)).status).toBe(401);
});

test('a network has 120 calls a minute without a token; calls with one have no limit', async () => {
  const server = await tallyport.addServer();
  await setGoal(tallyport.deps, server.serverId, { target: 3, period: 'day' }, 'test');
  const from = { 'x-forwarded-for': '2001:db8:1:2::7' };
  const first = await open(server.serverId, from);
  expect(first.headers.get('ratelimit-policy')).toBe('"network";q=120;w=60, "wider-network";q=480;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"network";r=119;t=\d+, "wider-network";r=479;t=\d+$/);
  await tallyport.deps.rateLimits.updateMany({ _id: /2001:db8:1:2::\/64/ }, { $set: { count: 119 } });
  expect((await open(server.serverId, from)).status).toBe(200);
  const { status, body, headers } = await open(server.serverId, from);
  expect([status, body]).toMatchObject([429, { code: 'too-many-requests' }]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(headers.get('ratelimit')).toMatch(/^"network";r=0;t=\d+$/);
  const { next_allowed_at: next } = body as { next_allowed_at: string };
  expect(new Date(next) < after(tallyport.clock.now(), DAY)).toBe(true);
  expect((await tallyport.call(server, 'goal', { headers: from })).status).toBe(200);
});
