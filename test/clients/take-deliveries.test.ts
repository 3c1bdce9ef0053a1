import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createTallyport, type Delivery, type TallyportOptions } from '../../clients/typescript/src/index.ts';
import { addFetchingServer, type FetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let web: TestDeps;
beforeAll(async () => {
  web = await startApp();
});
afterAll(() => web.close());

type Fetch = typeof globalThis.fetch;

function connect({ serverId, token }: FetchingServer, options: Partial<TallyportOptions> = {}) {
  return createTallyport({
    url: web.url,
    server_id: serverId.toHexString(),
    token,
    backoff_ms: 5,
    ...options,
  });
}

/** Runs the loop until `votes` votes were in its body; the loop then ends by its signal. */
async function loop(
  server: FetchingServer,
  votes: number,
  body: (vote: Delivery) => unknown = () => undefined,
  options: Partial<TallyportOptions> = {},
): Promise<Delivery[]> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const got: Delivery[] = [];
  for await (const vote of connect(server, options).takeDeliveries({ signal: stop.signal })) {
    got.push(vote);
    if (got.length === votes) stop.abort();
    await body(vote);
  }
  return got;
}

const stateOf = async (server: FetchingServer, { vote_id }: Delivery) => {
  const { state, attempts } = (await server.vote(vote_id)).delivery;
  return [state, attempts.at(-1)?.code, attempts.at(-1)?.words];
};

test('the loop gets the oldest vote first, and a body that ends means delivered', async () => {
  const server = await addFetchingServer(web);
  for (const name of ['Alice', 'Bob', 'Carol']) await server.cast(name);
  const got = await loop(server, 3);
  expect(got.map(({ username, sending }) => [username, sending])).toEqual([
    ['Alice', 1],
    ['Bob', 1],
    ['Carol', 1],
  ]);
  for (const vote of got)
    expect(await stateOf(server, vote)).toEqual(['delivered', 'acknowledged', undefined]);
});

test('what the body tells is the result, with its reason', async () => {
  const server = await addFetchingServer(web);
  for (const name of ['Sent', 'Unknown', 'Retry', 'Failed']) await server.cast(name);
  const told: Record<string, (vote: Delivery) => void> = {
    Sent: (vote) => vote.sent(),
    Unknown: (vote) => vote.unknown('The connection ended.'),
    Retry: (vote) => vote.retry('The plugin is not loaded.'),
    Failed: (vote) => vote.failed('x'.repeat(300)),
  };
  const got = await loop(server, 4, (vote) => told[vote.username]?.(vote));
  expect(await Promise.all(got.map((vote) => stateOf(server, vote)))).toEqual([
    ['delivered', 'sent-not-confirmed', undefined],
    ['waiting', 'fetch-unknown', 'The connection ended.'],
    ['waiting', 'fetch-retry', 'The plugin is not loaded.'],
    ['failed', 'fetch-failed', 'x'.repeat(200)],
  ]);
});

test('a reason with half of a character is sent with a replacement for it', async () => {
  const server = await addFetchingServer(web);
  await server.cast('Cut');
  const [vote] = await loop(server, 1, (vote) => vote.retry('\u{1f600}'.repeat(9).slice(0, -1)));
  const words = `${'\u{1f600}'.repeat(8)}\ufffd`;
  if (vote) expect(await stateOf(server, vote)).toEqual(['waiting', 'fetch-retry', words]);
  expect(vote).toBeDefined();
});

test('if the body throws, its vote is unknown, and votes that it never saw come again', async () => {
  const server = await addFetchingServer(web);
  const [thrown, unseen] = [await server.cast('Thrown'), await server.cast('Unseen')];
  const broken = loop(server, 9, () => {
    throw new Error('the plugin failed');
  });
  await expect(broken).rejects.toThrow('the plugin failed');
  const codeOf = async ({ _id }: typeof thrown) => (await server.vote(_id)).delivery.attempts.at(-1)?.code;
  expect([await codeOf(thrown), await codeOf(unseen)]).toEqual(['fetch-unknown', 'fetch-retry']);
});

test('a lost answer is repeated with the same request_id, so no vote is handed out twice', async () => {
  const server = await addFetchingServer(web);
  await server.cast('Steve');
  const ids: unknown[] = [];
  let lost = 0;
  const fetch: Fetch = async (input, init) => {
    const request = input as Request;
    const isTake = request.url.endsWith('/take');
    if (isTake) ids.push(((await request.clone().json()) as { request_id: string }).request_id);
    const answer = await globalThis.fetch(request, init);
    if (isTake && lost++ === 0) throw new TypeError('fetch failed');
    return answer;
  };
  const [vote] = await loop(server, 1, () => undefined, { fetch });
  expect(vote).toMatchObject({ username: 'Steve', sending: 1 });
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  if (vote) expect((await server.vote(vote.vote_id)).delivery.attemptCount).toBe(1);
});

test('a result whose answer is lost is reported again', async () => {
  const server = await addFetchingServer(web);
  await server.cast('Steve');
  let lost = 0;
  const fetch: Fetch = async (input, init) => {
    const isDone = (input as Request).url.endsWith('/done');
    if (isDone && lost++ === 0) {
      const headers = { 'retry-after': '1' };
      return Response.json({ error: 'x', code: 'stopping' }, { status: 503, headers });
    }
    return globalThis.fetch(input, init);
  };
  const [vote] = await loop(server, 1, () => undefined, { fetch, deadline_ms: 500 });
  if (vote) expect(await stateOf(server, vote)).toEqual(['delivered', 'acknowledged', undefined]);
  expect(lost).toBe(2);
});

test('after a 429 it waits as long as the answer says', async () => {
  const server = await addFetchingServer(web);
  await server.cast('Steve');
  const times: number[] = [];
  const fetch: Fetch = async (input, init) => {
    if ((input as Request).url.endsWith('/take') && times.push(Date.now()) === 1) {
      const body = { error: 'x', code: 'too-many-requests' };
      return Response.json(body, { status: 429, headers: { 'retry-after': '1' } });
    }
    return globalThis.fetch(input, init);
  };
  await loop(server, 1, () => undefined, { fetch });
  expect(times).toHaveLength(2);
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(1_000);
});

test('a waiting loop ends by its signal, and an API token is refused with its code', async () => {
  const server = await addFetchingServer(web);
  const stop = new AbortController();
  let begun = false;
  const fetch: Fetch = (input, init) => {
    begun = true;
    return globalThis.fetch(input, init);
  };
  const votes = connect(server, { fetch }).takeDeliveries({ signal: stop.signal });
  const next = votes.next();
  await expect.poll(() => begun).toBe(true);
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  const other = await web.addServer();
  const refused = connect({ ...server, token: other.token, serverId: other.serverId })
    .takeDeliveries()
    .next();
  await expect(refused).rejects.toMatchObject({ code: 'scope-missing', status: 403 });
});

// The last test of the file: the site's batches wait for the moved clock when it is back.
test('when half of the lease is over, the votes that are left go back with one call, before it ends', async () => {
  const server = await addFetchingServer(web);
  const votes: Awaited<ReturnType<FetchingServer['cast']>>[] = [];
  for (const name of ['A1', 'A2', 'A3', 'A4', 'A5', 'A6']) votes.push(await server.cast(name));
  const now = performance.now.bind(performance);
  let movedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + movedMs);
  onTestFinished(() => clock.mockRestore());
  const stop = new AbortController();
  let takes = 0;
  const done: number[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = input as Request;
    // The second take ends the loop.
    if (request.url.endsWith('/take') && takes++ > 0) stop.abort();
    if (request.url.endsWith('/done')) {
      const { results } = (await request.clone().json()) as { results: unknown[] };
      done.push(results.length);
    }
    return globalThis.fetch(request, init);
  };
  const got: string[] = [];
  for await (const vote of connect(server, { fetch }).takeDeliveries({ signal: stop.signal })) {
    got.push(vote.username);
    movedMs += 12_000;
  }
  expect([got, done]).toEqual([
    ['A1', 'A2', 'A3'],
    [1, 1, 1, 3],
  ]);
  for (const vote of votes.slice(3))
    expect((await server.vote(vote._id)).delivery).toMatchObject({
      state: 'waiting',
      attempts: [{ code: 'fetch-retry', words: 'The votes before it took too long.' }],
    });
});
