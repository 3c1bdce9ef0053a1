import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Challenge } from 'altcha-lib';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { VotifierListener } from '../src/demo/votifier-listener.ts';
import { issueToken, revokeToken } from '../src/servers/api-tokens.ts';
import { AUTHENTICATION_TTL_MS } from '../src/servers/authenticate-token.ts';
import { gameServer } from './servers/proving.ts';
import { linkTo, tokenOf } from './site/account-pages.ts';
import { ask } from './support/api-description.ts';
import { atTheEnd } from './support/at-the-end.ts';
import { EVENTUALLY } from './support/eventually.ts';
import { addOwnedServer } from './support/owned-server.ts';
import { fileForm, picture } from './support/pictures.ts';
import { PASSWORD, signIn } from './support/sign-in.ts';
import { startApp, type TestDeps, type TestServer } from './support/start-app.ts';
import { solve } from './support/vote-form.ts';
import { OWN_ORIGIN, textOf } from './support/web-app.ts';
import { type FailedStart, failToStartWeb, startWeb, type WebProcess } from './support/web-process.ts';
import { startWorker } from './support/workers.ts';

const GUARD = fileURLToPath(new URL('./support/dial-guard.ts', import.meta.url));
const EMAIL = 'ada@example.org';

/** The file of a guard, which is removed at the end. */
function dialFile(): string {
  const file = join(tmpdir(), `dials-${new ObjectId()}`);
  atTheEnd(() => rm(file, { force: true }));
  return file;
}

const dialsIn = async (file: string) => [...new Set((await readFile(file, 'utf8')).trim().split('\n'))];

let tallyport: TestDeps;
/**
 * Two processes for all tests; the tests of stopping come last and stop one each. A guard watches what the first one
 * connects to; it has a logo, and a variable of an older version.
 */
let webs: [WebProcess, WebProcess];
/** The addresses of MongoDB and Redis. */
let services: string[];
const dials = dialFile();
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'logo-'));
  atTheEnd(() => rm(folder, { recursive: true }));
  const LOGO = join(folder, 'logo.webp');
  await writeFile(LOGO, await picture(300, 100).webp().toBuffer());
  tallyport = await startApp({
    LOGO,
    PUBLIC_URL: OWN_ORIGIN.origin,
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
  });
  atTheEnd(() => tallyport.close());
  const { MONGODB_URI, REDIS_URL } = tallyport.deps.config;
  services = [MONGODB_URI, REDIS_URL].map((uri) => new URL(uri).host);
  const watched = {
    NODE_OPTIONS: `--import=${GUARD}`,
    DIAL_GUARD_FILE: dials,
    DIAL_GUARD_ALLOWED: services.join(','),
    OPERATOR_PASSWORD_HASH: 'scrypt$1$2$3$s3cr$et',
  };
  webs = await Promise.all([startWeb({ ...tallyport.env, ...watched }), startWeb(tallyport.env)]);
});

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

test('settings of an older version are reported at the start, with the fix', () => {
  const [web] = webs;
  expect(web.log()).toContain('tallyport operator create --email ADDRESS');
  expect(web.log()).not.toContain('s3cr');
});

/** The native image libraries that a process has loaded. */
async function imageLibraries(pid: number | undefined): Promise<string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  return maps.split('\n').filter((line) => /sharp|libvips|resvg/i.test(line));
}

test('a web process takes a banner and sends cards and a logo without an image library; a worker makes them', async () => {
  const [web] = webs;
  const { deps } = tallyport;
  const owner = await signIn(tallyport);
  const serverId = await addOwnedServer(deps, owner.userId, { name: 'Painted' });
  const worker = await startWorker(deps.config, { args: ['encode-pictures', 'draw-cards'] });

  const form = fileForm({ bytes: await picture(1_300, 325).png().toBuffer() });
  const banner = `${web.url}/dashboard/servers/${serverId.toHexString()}/profile/banner`;
  const headers = { ...form.headers, ...OWN_ORIGIN, ...owner.headers, accept: 'text/html' };
  const sent = await fetch(banner, {
    method: 'POST',
    headers,
    body: new Uint8Array(form.payload),
    redirect: 'manual',
  });
  expect(sent.status).toBe(303);
  const page = await (await fetch(`${web.url}/servers/painted`)).text();
  expect(page).toContain('<link rel="icon" type="image/webp"');
  const placeholder = Buffer.from(await (await fetch(`${web.url}/servers/painted/card.png`)).arrayBuffer());

  await vi.waitFor(async () => {
    const server = await deps.servers.findOne({ _id: serverId });
    expect(server?.profile?.banner).toMatchObject({ width: 1_200, height: 300 });
    expect(server?.profile).not.toHaveProperty('bannerUpload');
    const card = await fetch(`${web.url}/servers/painted/card.png`);
    const png = Buffer.from(await card.arrayBuffer());
    expect(png.equals(placeholder)).toBe(false);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1_200, 630]);
  }, EVENTUALLY);
  expect(await deps.pictureUploads.countDocuments()).toBe(0);
  const { banner: shown } = (await deps.servers.findOne({ _id: serverId }))?.profile ?? {};
  expect((await fetch(`${web.url}/pictures/${shown?.wide}.webp`)).status).toBe(200);
  expect(await imageLibraries(web.child.pid)).toEqual([]);
  // The worker's drawing contains the logo.
  expect(worker.lines.some((line) => line.event === 'card.without_logo')).toBe(false);
}, 60_000);

/** A browser with a session. */
function browserAt(url: string) {
  let cookie = '';
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = {
      accept: 'text/html',
      cookie,
      ...OWN_ORIGIN,
      ...(init.headers as Record<string, string>),
    };
    const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init, headers });
    const set = answer.headers.getSetCookie().map((one) => one.split(';')[0]);
    if (set.length > 0) cookie = set.join('; ');
    return {
      status: answer.status,
      location: answer.headers.get('location') ?? '',
      body: await answer.text(),
    };
  };
  return {
    get: (path: string) => send(path),
    post: (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      send(path, { method: 'POST', body: new URLSearchParams(fields), headers }),
  };
}

test('a web process connects to MongoDB and Redis and to nothing else, whatever its users do', async () => {
  const [{ url }] = webs;
  const { deps } = tallyport;
  await startWorker(deps.config, { args: ['answer-now'] });
  const { get, post } = browserAt(url);

  // An account.
  expect((await post('/sign-up', { email: EMAIL })).status).toBe(200);
  const link = await vi.waitFor(async () => {
    const found = await linkTo(deps, EMAIL);
    expect(tokenOf(found)).not.toBe('');
    return found;
  }, EVENTUALLY);
  await post('/verify-email', { token: tokenOf(link), name: 'Ada', password: PASSWORD });
  expect((await post('/sign-in', { email: EMAIL, password: PASSWORD })).status).toBe(303);

  // A server, whose ownership is proven.
  const game = await gameServer();
  const place = { address: '127.0.0.1', port: String(game.port) };
  const fields = { name: 'Alpha', game: 'Minecraft', queryPort: '', countryCode: '', ...place };
  const draft = (await post('/dashboard/servers/new', fields)).location.replace('#check', '');
  game.said.motd = /<code>(tp-\w{10})<\/code>/.exec((await get(draft)).body)?.[1] ?? '';
  const server = (await post(`${draft}/check`)).location.replace('?done=listed', '');
  expect(server).toMatch(/^\/dashboard\/servers\/[0-9a-f]{24}$/);

  // A listener, its test, and a move to an address without a server.
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const settings = { protocol: 'votifier-v2', host: '127.0.0.1', port: String(listener.port) };
  const saved = await post(`${server}/listener`, { ...settings, secret: listener.token, serviceName: 'T' });
  expect(textOf(saved.body)).toContain('The test vote arrived');
  expect(textOf((await post(`${server}/listener/test`)).body)).toContain('The test vote arrived');
  const moved = await post(`${server}/settings/place`, { address: '127.0.0.1', port: '9' });
  expect(moved.location).toBe(`${server}/settings#check`);

  // A vote on the page, and one of the API.
  expect((await get('/servers/alpha/vote')).status).toBe(200);
  const json = { accept: 'application/json' };
  const challenge = await post('/servers/alpha/vote/challenge', { username: 'Steve' }, json);
  const proof = await solve(JSON.parse(challenge.body) as Challenge);
  expect((await post('/servers/alpha/vote', { username: 'Steve', proof }, json)).status).toBeLessThan(400);
  const serverId = new ObjectId(server.split('/').at(-1));
  const { token } = await issueToken(deps, { serverId, name: 'plugin' });
  const voted = await fetch(`${url}/api/v1/servers/${serverId}/vote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'Alex' }),
  });
  expect(voted.status).toBeLessThan(300);

  expect((await dialsIn(dials)).toSorted()).toEqual(services.toSorted());

  // What the questions left in Redis has ids, and no secret.
  const queue = deps.queues['answer-now'];
  const jobs = await queue.getJobs();
  expect(jobs.length).toBeGreaterThanOrEqual(5);
  const events = await deps.producerRedis.xrange(queue.toKey('events'), '-', '+');
  const stored = JSON.stringify([events, jobs]);
  expect(stored).toContain(serverId.toHexString());
  for (const secret of [listener.token, EMAIL]) expect(stored).not.toContain(secret);
}, 60_000);

test('the guard notes and refuses connections, name look-ups and datagrams', async () => {
  const file = dialFile();
  const program = `
    import { createSocket } from 'node:dgram';
    import { Resolver } from 'node:dns/promises';
    import { connect } from 'node:net';
    const attempts = [
      () => connect(9, '127.0.0.1'),
      () => connect({ port: 9, host: '127.0.0.2' }),
      () => new Resolver().resolveTxt('a.example.org'),
      () => createSocket('udp4').send('a', 9, '127.0.0.1'),
    ];
    for (const attempt of attempts) try { attempt(); process.exitCode = 1; } catch {}
    await fetch('http://127.0.0.3:8099/').then(() => { process.exitCode = 1; }, () => {});
    process.exit();`;
  const env = { DIAL_GUARD_FILE: file, DIAL_GUARD_ALLOWED: '' };
  const args = [`--import=${GUARD}`, '--input-type=module', '-e', program];
  await promisify(execFile)(process.execPath, args, { env });
  expect(await dialsIn(file)).toEqual([
    '127.0.0.1:9',
    '127.0.0.2:9',
    'promisesResolver.resolveTxt a.example.org',
    'datagram send',
    '127.0.0.3:8099',
  ]);
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
