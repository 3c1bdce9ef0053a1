import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createListing } from '../../clients/typescript/src/index.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { listServers } from '../support/servers.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let web: TestDeps;
beforeAll(async () => {
  web = await startApp();
  const many = Array.from({ length: 7 }, (_, i) => ({ name: `Server ${i}`, game: 'rust', votes: 10 - i }));
  const ids = await listServers(web.deps, [...many, { name: 'Other', game: 'minecraft' }]);
  await editServer(web.deps, ids[0] as (typeof ids)[0], { name: 'Renamed' }, 'test');
});
afterAll(() => web.close());

const listing = (fetch = globalThis.fetch) => createListing({ url: web.url, fetch, backoff_ms: 5 });

test('the loop has all servers of all pages in their order, and reads a page only when it is needed', async () => {
  const asked: string[] = [];
  const counted: typeof fetch = (input, init) => {
    asked.push((input as Request).url);
    return fetch(input, init);
  };
  const names: string[] = [];
  for await (const { name } of listing(counted).servers({ game: 'rust', limit: 3 })) {
    names.push(name);
    expect(asked).toHaveLength(Math.ceil(names.length / 3));
  }
  expect(names).toEqual(['Renamed', ...[1, 2, 3, 4, 5, 6].map((i) => `Server ${i}`)]);
});

test('when the limit is used up, the loop waits as long as the listing says and goes on', async () => {
  let refusals = 0;
  const limited: typeof fetch = async (input, init) => {
    if (refusals === 1) return fetch(input, init);
    refusals += 1;
    const body = { error: 'Later.', code: 'too-many-requests', next_allowed_at: '2026-11-21T08:00:00.000Z' };
    return Response.json(body, { status: 429, headers: { 'retry-after': '0' } });
  };
  const names: string[] = [];
  for await (const { name } of listing(limited).servers()) names.push(name);
  expect(names).toHaveLength(8);
  expect(refusals).toBe(1);
});

test('a wait is a minute at most', async () => {
  const waits: number[] = [];
  const { setTimeout: usual } = globalThis;
  const soon = ((run: () => void, ms = 0) => {
    if (ms > 30_000) waits.push(ms);
    return usual(run, ms > 30_000 ? 0 : ms);
  }) as typeof setTimeout;
  vi.stubGlobal('setTimeout', soon);
  let calls = 0;
  // Without the agent of the real `fetch`, which has timers of its own.
  const limited: typeof fetch = async () => {
    calls += 1;
    if (calls > 1) return Response.json({ servers: [], next_cursor: null });
    const body = { error: 'Later.', code: 'too-many-requests', next_allowed_at: '2026-11-21T08:00:00.000Z' };
    return Response.json(body, { status: 429, headers: { 'retry-after': '86400' } });
  };
  try {
    for await (const _ of listing(limited).pages()) break;
  } finally {
    vi.unstubAllGlobals();
  }
  expect(waits).toEqual([60_000]);
});

test('a listing that names the same page again is not asked for ever', async () => {
  const same: typeof fetch = async () => Response.json({ servers: [], next_cursor: 'again' });
  const walk = async () => {
    for await (const _ of listing(same).servers()) break;
  };
  await expect(walk()).rejects.toMatchObject({ code: 'unexpected-answer' });
});

test('a server, its reviews and history, the games and totals are read by slug; a former slug is followed', async () => {
  const client = listing();
  expect(await client.server('server-0')).toMatchObject({ slug: 'renamed', description: '' });
  expect(await client.reviews('renamed', { limit: 5 })).toMatchObject({ review_count: 0 });
  expect(await client.history('renamed', { step: 'hour' })).toMatchObject({ step: 'hour' });
  expect(await client.games()).toMatchObject({ games: [{ game: 'rust', servers: 7 }, { servers: 1 }] });
  expect(await client.stats()).toMatchObject({ servers: 8 });
  await expect(client.server('nothing')).rejects.toMatchObject({ status: 404, code: 'not-found' });
});

test('a wrong option is named', () => {
  expect(() => createListing({ url: '' })).toThrow('`url` is empty');
  expect(() => createListing({ url: web.url, timeout_ms: -1 })).toThrow('`timeout_ms`');
});
