import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TallyportOptions } from '../../clients/typescript/src/index.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { installClient, type PublishedClient } from './published-client.ts';

const run = promisify(execFile);

let client: PublishedClient;
let tallyport: TestDeps;
beforeAll(async () => {
  [client, tallyport] = await Promise.all([installClient(), startApp()]);
});
afterAll(() => Promise.all([client.remove(), tallyport.close()]));

/** The client of `server`, whose retries begin after a few milliseconds. */
const connect = ({ serverId, token }: TestServer, options: Partial<TallyportOptions> = {}) =>
  client.module.createTallyport({
    url: tallyport.url,
    serverId: serverId.toHexString(),
    token,
    backoffMs: 5,
    ...options,
  });

type Fetch = typeof globalThis.fetch;

/** A `fetch` that does `steps` one after the other, and then only calls. `requests` has the key of each call. */
function fetchWith(...steps: ((call: () => Promise<Response>) => Promise<Response> | Response)[]) {
  const keys: (string | null)[] = [];
  const fetch: Fetch = async (input, init) => {
    keys.push((input as Request).headers.get('idempotency-key'));
    const step = steps.shift();
    const call = () => globalThis.fetch(input, init);
    return step ? step(call) : call();
  };
  return { fetch, keys };
}

const unavailable = (headers: Record<string, string> = {}) =>
  Response.json({ error: 'Try again.', code: 'stopping' }, { status: 503, headers });
const lost = async (call: () => Promise<Response>): Promise<Response> => {
  await call();
  throw new TypeError('fetch failed');
};

test('its entry has under 10 KB, minified and compressed', async () => {
  const bundle = await rolldown({ input: client.entry, platform: 'neutral' });
  const { output } = await bundle.generate({ minify: true });
  expect(gzipSync(output[0].code).length).toBeLessThan(10_000);
});

describe('a vote', () => {
  test('is accepted, and shows in every reading call', async () => {
    const server = await tallyport.addServer();
    const one = connect(server);
    const before = tallyport.clock.now().getTime();
    const vote = await one.vote('Steve');
    expect(vote).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), monthlyVotes: 1 });
    expect(vote.nextVoteAt.getTime()).toBeGreaterThanOrEqual(before + 24 * HOUR);
    expect(await one.checkVote('Steve')).toMatchObject({ has_voted: true });
    expect((await one.votes({ limit: 1 })).votes).toEqual([
      expect.objectContaining({ id: vote.id, username: 'Steve' }),
    ]);
    expect((await one.topVoters({ limit: 5 })).voters).toEqual([
      expect.objectContaining({ username: 'Steve', votes: 1 }),
    ]);
    // Counters are written a moment later.
    await expect.poll(() => one.info()).toMatchObject({ monthly_votes: 1 });
    expect(await one.reviews({ limit: 1 })).toMatchObject({ review_count: 0 });
  });

  test('inside the cooldown is an error with the time of the next one, and is not repeated', async () => {
    const server = await tallyport.addServer();
    const { fetch, keys } = fetchWith();
    const one = connect(server, { fetch });
    const { nextVoteAt } = await one.vote('Steve');
    await expect(one.vote('STEVE')).rejects.toMatchObject({
      name: 'TallyportError',
      status: 429,
      code: 'cooldown',
      nextVoteAt,
    });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  test('whose answer is lost is repeated with the same key, and counts once', async () => {
    const server = await tallyport.addServer();
    const { fetch, keys } = fetchWith(
      lost,
      () => unavailable(),
      () => unavailable({ 'retry-after': 'soon' }),
    );
    const { monthlyVotes } = await connect(server, { fetch }).vote('Steve');
    expect(monthlyVotes).toBe(1);
    expect(keys).toHaveLength(4);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
  });

  test('that fails tells its key, with which a later call finishes it', async () => {
    const server = await tallyport.addServer();
    const { fetch } = fetchWith(lost);
    const failing = connect(server, { fetch, deadlineMs: 1 });
    const error = await failing.vote('Steve').catch((error: unknown) => error);
    expect(error).toMatchObject({ status: 0, idempotencyKey: expect.any(String) });
    const { idempotencyKey } = error as { idempotencyKey: string };
    expect(await connect(server).vote('Steve', { idempotencyKey })).toMatchObject({ monthlyVotes: 1 });
  });
});

test('a claim whose answer is lost is repeated with the same key, and still rewards the player', async () => {
  const server = await tallyport.addServer();
  await connect(server).vote('Steve');
  const { fetch, keys } = fetchWith(lost, () => unavailable());
  expect(await connect(server, { fetch }).claimVote('Steve')).toMatchObject({ claimed: true });
  expect(new Set(keys).size).toBe(1);
  expect(await connect(server).claimVote('Steve')).toMatchObject({ claimed: false });
});

describe('retries', () => {
  test('wait as long as Retry-After says', async () => {
    const server = await tallyport.addServer();
    const { fetch } = fetchWith(() => unavailable({ 'retry-after': '1' }));
    const start = performance.now();
    await connect(server, { fetch }).info();
    expect(performance.now() - start).toBeGreaterThanOrEqual(1_000);
  });

  test('end at once if Retry-After is after the deadline', async () => {
    const server = await tallyport.addServer();
    const { fetch, keys } = fetchWith(() => unavailable({ 'retry-after': '3600' }));
    await expect(connect(server, { fetch }).info()).rejects.toMatchObject({ status: 503, code: 'stopping' });
    expect(keys).toHaveLength(1);
  });

  test('end at the deadline with the last answer', async () => {
    const server = await tallyport.addServer();
    const always = Array.from({ length: 1_000 }, () => () => unavailable());
    const { fetch, keys } = fetchWith(...always);
    const short = connect(server, { fetch, deadlineMs: 100 });
    await expect(short.info()).rejects.toMatchObject({ status: 503, code: 'stopping' });
    expect(keys.length).toBeGreaterThan(1);
  });

  test('follow an attempt that takes too long', async () => {
    const server = await tallyport.addServer();
    const never: Fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const slow = connect(server, { fetch: never, timeoutMs: 20, deadlineMs: 60 });
    await expect(slow.info()).rejects.toMatchObject({ status: 0, code: 'timeout' });
  });

  test('end when the caller aborts', async () => {
    const server = await tallyport.addServer();
    const caller = new AbortController();
    const { fetch, keys } = fetchWith(() => {
      caller.abort(new Error('not wanted any more'));
      return unavailable({ 'retry-after': '10' });
    });
    const call = connect(server, { fetch }).info({ signal: caller.signal });
    await expect(call).rejects.toThrow('not wanted any more');
    expect(keys).toHaveLength(1);
  });
});

describe('an error', () => {
  test('has the code, the sentence and the request id of the API', async () => {
    const server = await tallyport.addServer();
    const wrong = connect({ ...server, token: 'wrong' });
    await expect(wrong.info()).rejects.toMatchObject({
      status: 401,
      code: 'unauthorized',
      message: expect.stringContaining('API token'),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    await expect(connect(server).vote('')).rejects.toMatchObject({ status: 400, code: 'malformed' });
  });

  test('of a second report has the time of the next one', async () => {
    const one = connect(await tallyport.addServer());
    await one.reportStatus({ online_players: 1, max_players: 2 });
    await expect(one.reportStatus({ online_players: 1, max_players: 2 })).rejects.toMatchObject({
      code: 'too-early',
      nextAllowedAt: expect.any(Date),
    });
  });

  test.each([
    ['a page with status 200', new Response('<p>Sign in</p>', { headers: { 'content-type': 'text/html' } })],
    ['no JSON', new Response('{', { headers: { 'content-type': 'application/json' } })],
    ['a page with status 403', new Response('<p>No</p>', { status: 403 })],
    ['a redirect', new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } })],
  ])('of a proxy is not taken for an answer: %s', async (_, response) => {
    const { fetch } = fetchWith(() => response);
    const one = connect(await tallyport.addServer(), { fetch });
    await expect(one.vote('Steve')).rejects.toMatchObject({ code: 'unexpected-answer' });
  });
});

test('an operation of the package’s `api` can be called with the same retries', async () => {
  const server = await tallyport.addServer();
  const code = `
    import { createTallyport } from '@tallyport/client';
    import { checkVote } from '@tallyport/client/api';
    const [url, serverId, token] = process.argv.slice(1);
    const one = createTallyport({ url, serverId, token });
    const { data } = await one.call(checkVote, { query: { username: 'Steve' } });
    console.log(data.has_voted);`;
  const args = [
    '--input-type=module',
    '-e',
    code,
    tallyport.url,
    server.serverId.toHexString(),
    server.token,
  ];
  expect((await run(process.execPath, args, { cwd: client.folder })).stdout).toBe('false\n');
});

test('the example of a bot votes, says when the next vote is allowed, and lists the top voters', async () => {
  const server = await tallyport.addServer();
  const env = {
    ...process.env,
    TALLYPORT_URL: tallyport.url,
    SERVER_ID: server.serverId.toHexString(),
    API_TOKEN: server.token,
  };
  const bot = () => run(process.execPath, [join(client.folder, 'bot.ts'), 'Steve'], { env });
  expect((await bot()).stdout).toMatch(
    /^Thank you, Steve! That is vote 1 .*\nTop voters of .*:\n1 × Steve\n$/,
  );
  expect((await bot()).stdout).toMatch(/^Steve can vote again at 2\d{3}-.*Z\.\n/);
});
