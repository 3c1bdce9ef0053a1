import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TallyportOptions } from '../../clients/typescript/src/index.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addFetchingServer } from '../support/fetching.ts';
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
    server_id: serverId.toHexString(),
    token,
    backoff_ms: 5,
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
    expect(vote).toEqual({
      success: true,
      monthly_votes: 1,
      next_vote_at: expect.any(String),
      vote_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      replayed: false,
    });
    expect(Date.parse(vote.next_vote_at)).toBeGreaterThanOrEqual(before + 24 * HOUR);
    expect(await one.checkVote('Steve')).toMatchObject({ has_voted: true });
    expect((await one.votes({ limit: 1 })).votes).toEqual([
      expect.objectContaining({ id: vote.vote_id, username: 'Steve' }),
    ]);
    expect((await one.topVoters({ limit: 5 })).voters).toEqual([
      expect.objectContaining({ username: 'Steve', votes: 1 }),
    ]);
    expect(await one.playerNames()).toMatchObject({ proven_only: false });
    await expect(one.goal()).rejects.toMatchObject({ code: 'no-goal' });
    // Counters are written a moment later.
    await expect.poll(() => one.info()).toMatchObject({ monthly_votes: 1 });
    expect(await one.reviews({ limit: 1 })).toMatchObject({ review_count: 0 });
  });

  test('inside the cooldown is an error with the time of the next one, and is not repeated', async () => {
    const server = await tallyport.addServer();
    const { fetch, keys } = fetchWith();
    const one = connect(server, { fetch });
    const { next_vote_at } = await one.vote('Steve');
    await expect(one.vote('STEVE')).rejects.toMatchObject({
      name: 'TallyportError',
      status: 429,
      code: 'cooldown',
      next_vote_at,
      doc_url: 'http://localhost:3000/docs/errors#cooldown',
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
    const vote = await connect(server, { fetch }).vote('Steve');
    expect(vote).toMatchObject({ monthly_votes: 1, replayed: true });
    expect(keys).toHaveLength(4);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
  });

  test('that fails tells its key, with which a later call finishes it', async () => {
    const server = await tallyport.addServer();
    const { fetch } = fetchWith(lost);
    const failing = connect(server, { fetch, deadline_ms: 1 });
    const error = await failing.vote('Steve').catch((error: unknown) => error);
    expect(error).toMatchObject({ status: 0, idempotency_key: expect.any(String) });
    const { idempotency_key } = error as { idempotency_key: string };
    expect(await connect(server).vote('Steve', { idempotency_key })).toMatchObject({ monthly_votes: 1 });
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

describe('an option that is wrong is named:', () => {
  const VALID = { url: 'https://listing.example', server_id: '0'.repeat(24), token: 'tp_x' };

  test.each<[unknown, string]>([
    [{ url: '' }, 'The option `url` is empty: give the address of the listing'],
    [{ url: undefined }, 'The option `url` is missing'],
    [{ url: 'listing.example' }, '`url` is not the address of a listing: it begins with https://'],
    [{ url: 'localhost:3000' }, '`url` is not the address of a listing'],
    [{ url: 'ftp://listing.example' }, '`url` is not the address of a listing'],
    [{ url: 'https://listing.example/games/api/v1/servers' }, '`url` is an address of the API'],
    [{ url: 'https://me:secret@listing.example' }, '`url` has more than an address and a path'],
    [{ server_id: '' }, 'The option `server_id` is empty: give the id of your server'],
    [{ server_id: 'alpha-craft' }, '`server_id` is not an id of a server'],
    [{ token: '' }, 'The option `token` is empty: give an API token'],
    [{ token: 'Bearer tp_x' }, '`token` is not a token: it has a space'],
    [{ token: 'tp_x\n' }, '`token` is not a token'],
    [{ timeout_ms: 0 }, '`timeout_ms` is not a number of milliseconds above 0'],
    [{ deadline_ms: Number.NaN }, '`deadline_ms` is not a number'],
    [{ backoff_ms: '500' }, '`backoff_ms` is not a number'],
    [{ fetch: 'node-fetch' }, '`fetch` is not a function'],
  ])('%o', (wrong, says) => {
    const make = () => client.module.createTallyport({ ...VALID, ...(wrong as object) });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(says);
  });

  test('and one that is undefined has its default', () => {
    const undefinedOptions: object = { fetch: undefined, timeout_ms: undefined };
    expect(() => client.module.createTallyport({ ...VALID, ...undefinedOptions })).not.toThrow();
  });
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
    const short = connect(server, { fetch, deadline_ms: 100 });
    await expect(short.info()).rejects.toMatchObject({ status: 503, code: 'stopping' });
    expect(keys.length).toBeGreaterThan(1);
  });

  test('follow an attempt that takes too long', async () => {
    const server = await tallyport.addServer();
    const never: Fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const slow = connect(server, { fetch: never, timeout_ms: 20, deadline_ms: 60 });
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
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    await expect(connect(server).vote('')).rejects.toMatchObject({ status: 400, code: 'malformed' });
  });

  test('of a second report has the time of the next one', async () => {
    const one = connect(await tallyport.addServer());
    await one.reportStatus({ online_players: 1, max_players: 2 });
    await expect(one.reportStatus({ online_players: 1, max_players: 2 })).rejects.toMatchObject({
      code: 'too-early',
      next_allowed_at: expect.any(String),
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
    const [url, server_id, token] = process.argv.slice(1);
    const one = createTallyport({ url, server_id, token });
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

test('the example of a game server fetches votes until it is stopped', async () => {
  const server = await addFetchingServer(tallyport);
  const vote = await server.cast('Steve');
  const env = {
    ...process.env,
    TALLYPORT_URL: tallyport.url,
    SERVER_ID: server.serverId.toHexString(),
    DELIVERY_TOKEN: server.token,
  };
  const child = spawn(process.execPath, [join(client.folder, 'game-server.ts')], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  const stateOf = async () => (await server.vote(vote._id)).delivery.state;
  await expect.poll(stateOf, EVENTUALLY).toBe('delivered');
  expect(said).toBe('Reward Steve (sending 1).\n');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
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

test('the example of a website takes a challenge and votes from a worker, and rewards each once', async () => {
  const { deps, serverId, cast, drain, vote } = await deliveryBench();
  const port = await freePort();
  const settings = { url: `http://127.0.0.1:${port}/votes`, serviceName: 'x' };
  const listener = await setHttpListener(deps, serverId, settings, 'test');
  const site = spawn(process.execPath, [join(client.folder, 'website.ts')], {
    env: { ...process.env, PORT: String(port), VOTE_SECRET: listener.secret ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void site.kill());
  const lines: string[] = [];
  createInterface({ input: site.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines).toEqual([expect.stringContaining('listening')]);
  const votes = [await cast('Alex'), await cast('Steve')];
  await drain();
  for (const one of votes) expect((await vote(one)).delivery.state).toBe('delivered');
  await expect.poll(() => lines.slice(1)).toEqual(['Alex voted', 'Steve voted']);
});
