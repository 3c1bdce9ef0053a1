import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Challenge } from 'altcha-lib';
import { ObjectId } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { VotifierListener } from '../src/demo/votifier-listener.ts';
import { issueToken } from '../src/servers/api-tokens.ts';
import { gameServer } from './servers/proving.ts';
import { linkTo, tokenOf } from './site/account-pages.ts';
import { EVENTUALLY } from './support/eventually.ts';
import { startFakeDiscord, WEBHOOK_TOKEN } from './support/fake-discord.ts';
import { environmentOf } from './support/process-environment.ts';
import { PASSWORD } from './support/sign-in.ts';
import { testDeps } from './support/test-deps.ts';
import { solve } from './support/vote-form.ts';
import { OWN_ORIGIN, textOf } from './support/web-app.ts';
import { startWeb } from './support/web-process.ts';
import { startWorker } from './support/workers.ts';

const GUARD = fileURLToPath(new URL('./support/dial-guard.ts', import.meta.url));
const EMAIL = 'ada@example.org';

/** The file of a guard, until the test ends. */
function dialFile(): string {
  const file = join(tmpdir(), `dials-${new ObjectId()}`);
  onTestFinished(() => rm(file, { force: true }));
  return file;
}

const dialsIn = async (file: string) => [...new Set((await readFile(file, 'utf8')).trim().split('\n'))];

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
  const discord = await startFakeDiscord();
  const deps = await testDeps({
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    DISCORD_API_URL: discord.url,
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
  });
  const services = [deps.config.MONGODB_URI, deps.config.REDIS_URL].map((uri) => new URL(uri).host);
  const file = dialFile();
  const { url } = await startWeb({
    ...environmentOf(deps.config),
    PORT: '0',
    METRICS_PORT: '0',
    NODE_OPTIONS: `--import=${GUARD}`,
    DIAL_GUARD_FILE: file,
    DIAL_GUARD_ALLOWED: services.join(','),
  });
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

  // A message to Discord.
  expect((await post(`${server}/settings/discord`, { webhook: discord.address })).status).toBe(303);
  const tested = await post(`${server}/settings/discord/test`);
  expect(textOf(tested.body)).toContain('Discord accepted the test message');

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

  expect((await dialsIn(file)).toSorted()).toEqual(services.toSorted());

  // What the questions left in Redis has ids, and no secret.
  const queue = deps.queues['answer-now'];
  const jobs = await queue.getJobs();
  expect(jobs.length).toBeGreaterThanOrEqual(6);
  const events = await deps.producerRedis.xrange(queue.toKey('events'), '-', '+');
  const stored = JSON.stringify([events, jobs]);
  expect(stored).toContain(serverId.toHexString());
  for (const secret of [listener.token, WEBHOOK_TOKEN, EMAIL]) expect(stored).not.toContain(secret);
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
