import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { revokeToken } from '../../src/servers/api-tokens.ts';
import { AUTHENTICATION_TTL_MS } from '../../src/servers/authenticate-token.ts';
import { ask } from '../support/api-description.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { type FailedStart, failToStartWeb, startWeb, type WebProcess } from '../support/web-process.ts';

let tallyport: TestDeps;
/** Two processes for all tests; the tests of stopping come last and stop one each. */
let webs: [WebProcess, WebProcess];
beforeAll(async () => {
  tallyport = await startApp();
  const start = () => startWeb(tallyport.env);
  webs = await Promise.all([start(), start()]);
});
afterAll(() => tallyport.close());

/** The value of a metric of a process, such as `tallyport_votes_total{result="accepted"}`. */
async function metric({ metricsUrl }: WebProcess, name: string): Promise<number> {
  const { text } = await ask(`${metricsUrl}/metrics`);
  const line = text.split('\n').find((line) => line.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

/** How many votes a busy process answered with 503: it does not say whether such a vote was stored. */
let unheard = 0;

/** Votes as the contract says: a 503 of a busy process is retried. */
const vote: typeof tallyport.vote = async (...request) => {
  for (;;) {
    const answer = await tallyport.vote(...request);
    if (answer.status !== 503) return answer;
    unheard += 1;
  }
};

test('200 parallel votes of one player on two processes are exactly one vote', async () => {
  const server = await tallyport.addServer();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => vote(server, i % 3 ? 'Steve' : ' sTEVE', {}, webs[i % 2]?.url)),
  );
  const accepted = answers.filter(({ status }) => status === 200).length;
  // The answer of the vote that was accepted may be one that was not heard.
  if (unheard > 0) expect(accepted).toBeLessThanOrEqual(1);
  else expect(accepted).toBe(1);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - accepted);
  // All answers refer to the same vote.
  expect(new Set(answers.map(({ body }) => body.next_vote_at)).size).toBe(1);
  expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
  await vi.waitFor(async () => {
    const info = await tallyport.call(server, 'info', {}, webs[1].url);
    expect(info.body).toMatchObject({ votes_count: 1, monthly_votes: 1, all_time_votes: 1 });
  }, EVENTUALLY);
});

test('votes of many players get different numbers from a process, and another process continues from there', async () => {
  const server = await tallyport.addServer();
  const wave = (name: string, url: string) =>
    Promise.all(Array.from({ length: 50 }, (_, i) => vote(server, `${name} ${i}`, {}, url)));
  const numbersOf = (answers: Awaited<ReturnType<typeof wave>>) =>
    answers.map(({ body }) => Number(body.monthly_votes)).toSorted((a, b) => a - b);
  const first = numbersOf(await wave('first', webs[0].url));
  expect(first).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  await vi.waitFor(async () => {
    const { body } = await tallyport.call(server, 'info', {}, webs[1].url);
    expect(body.monthly_votes).toBe(50);
  }, EVENTUALLY);
  const second = numbersOf(await wave('second', webs[1].url));
  expect(second).toEqual(Array.from({ length: 50 }, (_, i) => i + 51));
});

test('concurrent reports on two processes are one report; a key on two processes is one vote', async () => {
  const server = await tallyport.addServer();
  const body = JSON.stringify({ online_players: 1, max_players: 2 });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const reports = await Promise.all(
    Array.from({ length: 40 }, (_, i) => tallyport.call(server, 'status', init, webs[i % 2]?.url)),
  );
  expect(reports.filter(({ status }) => status === 200)).toHaveLength(1);
  const key = { 'idempotency-key': 'key' };
  const votes = await Promise.all(
    Array.from({ length: 40 }, (_, i) => tallyport.vote(server, 'Steve', key, webs[i % 2]?.url)),
  );
  expect(new Set(votes.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(votes[0]?.status).toBe(200);
});

test('a token that one process revokes is refused by the others within 5 s', async () => {
  const [web] = webs;
  const server = await tallyport.addServer();
  expect((await tallyport.call(server, 'info', {}, web.url)).status).toBe(200);
  await revokeToken(tallyport.deps, server.serverId, server.tokenId);
  const readInfo = () => tallyport.call(server, 'info', {}, web.url);
  await expect.poll(async () => (await readInfo()).status, { timeout: 20_000 }).toBe(401);
  expect(AUTHENTICATION_TTL_MS).toBeLessThan(5_000);
});

test('health on both ports, metrics only on the one for operators', async () => {
  const [web] = webs;
  for (const url of [web.url, web.metricsUrl]) {
    expect((await ask(`${url}/healthz`)).body).toEqual({ alive: true });
    await expect.poll(async () => (await ask(`${url}/readyz`)).body).toMatchObject({ ready: true });
  }
  const accepted = 'tallyport_votes_total{result="accepted"}';
  const before = await metric(web, accepted);
  await tallyport.vote(await tallyport.addServer(), 'Steve', {}, web.url);
  expect(await metric(web, accepted)).toBe(before + 1);
  expect((await ask(`${web.url}/metrics`)).status).toBe(404);
});

describe('stopping', () => {
  const HOST = 'Host: x\r\n';
  const vote = (server: TestServer, length: number) =>
    `POST /api/v1/servers/${server.serverId}/vote HTTP/1.1\r\n${HOST}Authorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  async function open(
    { url }: WebProcess,
    bytes: string,
  ): Promise<{ socket: Socket; rest: Promise<string> }> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let seen = '';
    socket.on('data', (chunk) => {
      seen += chunk;
    });
    socket.on('error', () => undefined);
    const rest = once(socket, 'close').then(() => seen);
    socket.write(bytes);
    return { socket, rest };
  }

  /** Waits until the process refuses a new connection, because it is stopping. */
  async function untilPortClosed({ url }: WebProcess): Promise<void> {
    await expect
      .poll(() =>
        ask(`${url}/healthz`).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed');
  }

  test('running requests are answered, later ones get 503, and the exit code is 0', async () => {
    const [web] = webs;
    const server = await tallyport.addServer();
    const underWay = await open(web, vote(server, 20));
    const later = await open(web, `GET /api/v1/servers/x/info HTTP/1.1\r\n`);
    // Both have arrived when a request that was sent after them is answered.
    await ask(`${web.url}/healthz`);

    web.child.kill('SIGTERM');
    await untilPortClosed(web);
    later.socket.write(`${HOST}\r\n`);
    const refused = await later.rest;
    expect(refused).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(refused).toMatch(/\r\nconnection: close\r\n/i);
    expect(refused).toMatch(/\r\nretry-after: \d+\r\n/i);
    expect(refused).toMatch(
      /\r\n\r\n\{"error":"This process is stopping: try again in a few seconds\.","code":"stopping","doc_url":"[^"]+#stopping"\}$/,
    );

    underWay.socket.write('{"username":"Steve"}');
    const answered = await underWay.rest;
    expect(answered).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answered).toMatch(/\r\nconnection: close\r\n/i);
    expect(await web.ended).toBe(0);
  });

  test('a second signal ends it at once', async () => {
    const [, web] = webs;
    await open(web, vote(await tallyport.addServer(), 20));
    await ask(`${web.url}/healthz`);
    web.child.kill('SIGINT');
    // Two signals within half a second count as one, because npm passes on a Ctrl-C that the process also gets.
    const impatient = setInterval(() => web.child.kill('SIGINT'), 100);
    // 130 shows that it did not wait for the running request: an orderly exit is 0.
    expect(await web.ended).toBe(130);
    clearInterval(impatient);
  });
});

describe('a start on a port that is in use', () => {
  let port: number;
  let failed: FailedStart;
  beforeAll(async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    ({ port } = other.address() as { port: number });
    const PUBLIC_URL = 'https://example.org/listing';
    failed = await failToStartWeb({ ...tallyport.env, PUBLIC_URL, PORT: String(port) });
    other.close();
  });

  test('prints one readable line', () => {
    expect([failed.code, failed.errors]).toEqual([
      1,
      `The configuration has an error:\n  PORT ${port} is taken on 127.0.0.1 by another process: choose another\n`,
    ]);
  });

  test('says first that a proxy must pass on the path of PUBLIC_URL', () => {
    expect(failed.log).toContain(
      'PUBLIC_URL has the path /listing: a proxy in front must pass it on, not strip it',
    );
  });
});

test('a start with a wrong value prints a readable line for each', async () => {
  const { code, errors } = await failToStartWeb({ ...tallyport.env, PORT: '70000', TRUST_PROXY: 'maybe' });
  expect([code, errors]).toEqual([
    1,
    'The configuration has 2 errors:\n  PORT (“70000”) must be a port number, 0 to 65535\n  TRUST_PROXY: “maybe” is neither an address nor a range; use false, or set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas\n',
  ]);
});
