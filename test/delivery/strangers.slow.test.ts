import { createServer as createHttpServer } from 'node:http';
import type { Socket } from 'node:net';
import net from 'node:net';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { createCanary } from '../../src/probing/canary.ts';
import { checkTakenServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from '../site/owner-fixture.ts';
import { castVote } from '../support/casting.ts';
import { emptyDatabase } from '../support/databases.ts';
import { drainHere } from '../support/delivering.ts';
import { listen } from '../support/fake-http-listener.ts';
import { textOf } from '../support/web-app.ts';

// How much traffic each feature can send within one minute to a host that never wanted votes.

/** The default limits. */
const DEFAULTS = { DESTINATION_LIMIT: '60', ACCOUNT_LIMIT: '40', BREAKER_SCHEDULE: '5s' };

/** A website of somebody else: it answers every request with 200 and repeats the body. */
async function strangersSite() {
  const posted: string[] = [];
  const server = createHttpServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    posted.push(Buffer.concat(pieces).toString('utf8'));
    response.end(posted.at(-1));
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/`, port, posted };
}

/** A service of somebody else on any number of ports. It is not a vote listener. */
async function strangersPorts(count: number, banner = '') {
  const stranger = { connections: 0, ports: [] as number[], dialled: new Set<number>() };
  for (let n = 0; n < count; n += 1) {
    const server = net.createServer((socket: Socket) => {
      stranger.connections += 1;
      stranger.dialled.add(n);
      socket.on('error', () => undefined).end(banner);
    });
    stranger.ports.push(await listen(server));
  }
  return stranger;
}

let shared: OwnerApp;
beforeAll(async () => {
  shared = await openOwnerApp(DEFAULTS);
});
afterEach(() => emptyDatabase(shared.deps.mongo));

/** A bench with a stopped clock, so that a limit of one minute never ends. */
async function strangerBench(web = shared) {
  const bench = await ownerFixture(web);
  bench.clock.stop(new Date());
  return bench;
}

async function castMany({ cast }: OwnerFixture, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await cast(`Player${n}`);
}

const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', secret: 'abcdef0123456789' } as const;

test('votes: a website that has not repeated the challenge gets the challenge and no vote', async () => {
  const bench = await strangerBench();
  const site = await strangersSite();
  await setHttpListener(bench.deps, bench.serverId, { url: site.url, serviceName: 'x' }, 'test');
  await castMany(bench, 20);
  await bench.drain();
  expect(site.posted).toEqual([expect.stringContaining('listener.challenge')]);
  expect(await bench.read('/listener')).toContain('holds the challenge, but beside other text');
});

test('resends: a website that has not repeated the challenge gets nothing more', async () => {
  const bench = await strangerBench();
  const site = await strangersSite();
  await setHttpListener(bench.deps, bench.serverId, { url: site.url, serviceName: 'x' }, 'test');
  await castMany(bench, 10);
  await bench.drain();
  await bench.deps.votes.updateMany(
    {},
    { $set: { 'delivery.state': 'delivered' }, $unset: { 'delivery.queuedAt': 1 } },
  );
  for (let n = 0; n < 4; n += 1) {
    const shown = new Date(bench.clock.now().getTime() + 1).toISOString();
    await bench.post('/votes/resend', { state: 'delivered', shown });
    await bench.drain();
    await bench.deps.votes.updateMany(
      {},
      { $set: { 'delivery.state': 'delivered' }, $unset: { 'delivery.queuedAt': 1 } },
    );
    bench.clock.move(1);
  }
  expect(site.posted.length).toBeLessThanOrEqual(2);
});

test('resumes, tests and changes of one account together: six a minute', async () => {
  const bench = await strangerBench();
  const stranger = await strangersPorts(1);
  const [port = 0] = stranger.ports;
  await bench.set({ port });
  await bench.cast('Steve');
  const { secret } = V2;
  for (let n = 0; n < 8; n += 1) {
    await bench.post('/listener/resume');
    await bench.drain();
    await bench.post('/listener', { ...V2, port: String(port), secret, serviceName: `Name ${n}` });
    await bench.drain();
    await bench.post('/listener/test');
  }
  // A test, also that of new settings, opens four more connections to detect the protocol of a service that does not
  // greet. An account may open 15 connections to one address.
  expect(stranger.connections).toBeLessThanOrEqual(15);
});

test('changes of the port: with a waiting vote, connections go to six ports a minute and not to eight', async () => {
  const bench = await strangerBench();
  const stranger = await strangersPorts(8, 'SSH-2.0-somebody\r\n');
  await bench.listener.stop();
  await bench.cast('Steve');
  let refused = 0;
  for (const port of stranger.ports) {
    const settings = { protocol: 'votifier-v2', host: '127.0.0.1', port: String(port), serviceName: 'x' };
    const answer = await bench.post('/listener', { ...settings, secret: V2.secret });
    if (answer.statusCode === 429) refused += 1;
    await bench.drain();
  }
  expect(refused).toBe(2);
  expect(stranger.dialled.size).toBeLessThanOrEqual(6);
  // Each change is tested, and the test detects the protocol of the service.
  expect(stranger.connections).toBeLessThanOrEqual(15);
  const vote = await bench.deps.votes.findOne({ serverId: bench.serverId });
  expect(textOf((await bench.get(`/votes/${vote?._id}`)).body)).not.toContain('somebody');
  expect(textOf((await bench.get('/listener')).body)).not.toContain('somebody');
  bench.clock.move(MINUTE);
  const tested = textOf((await bench.post('/listener/test')).body);
  expect(tested).toContain('failed');
  expect(tested).not.toContain('somebody');
});

test('changes of the query port: 15 connections a minute', async () => {
  const bench = await strangerBench();
  const { deps, serverId, clock } = bench;
  const stranger = await strangersPorts(10);
  await deps.servers.updateOne({ _id: serverId }, { $set: { address: '127.0.0.1', game: 'minecraft' } });
  const ask = createAsk(deps.config);
  const withSend = { ...deps, ask, canary: createCanary({ ...deps, ask }) };
  for (const port of stranger.ports) {
    await bench.post('/settings', {
      name: 'Alpha',
      game: 'minecraft',
      queryPort: String(port),
      countryCode: '',
    });
    clock.move(1);
    await takeDueServers(deps);
    await checkTakenServer(withSend, serverId);
  }
  // If a service closes at once, it is queried on further connections like Minecraft servers of old versions.
  expect(stranger.connections).toBeLessThanOrEqual(15);
});

/** A server of an account, with one waiting vote and a listener at `port`. */
async function addVotingServer({ deps }: OwnerFixture, n: number, ownerId: ObjectId, port: number) {
  const settings = { name: `Server ${n}`, address: `s${n}.example.org`, port: 25_565 };
  const serverId = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  await deps.servers.updateOne({ _id: serverId }, { $set: { ownerId } });
  const { tokenId } = await issueToken(deps, { serverId, name: 'plugin' });
  await setListener(deps, serverId, { ...V2, port, serviceName: 'x' }, 'test');
  await castVote(deps, { serverId, username: 'Steve', tokenId: new ObjectId(tokenId) });
  return serverId;
}

test('many servers of one account open a quarter of the connections to one address, and all servers the limit', async () => {
  const bench = await strangerBench(await openOwnerApp({ ...DEFAULTS, DESTINATION_LIMIT: '12' }));
  const stranger = await strangersPorts(1);
  const [port = 0] = stranger.ports;
  const account = new ObjectId();
  for (let n = 0; n < 5; n += 1) {
    await drainHere(bench.deps, await addVotingServer(bench, n, account, port));
  }
  expect(stranger.connections).toBe(3);
  const others = [];
  for (let n = 5; n < 15; n += 1) others.push(await addVotingServer(bench, n, new ObjectId(), port));
  for (const serverId of others) await drainHere(bench.deps, serverId);
  expect(stranger.connections).toBe(12);
  const last = await bench.deps.votes.findOne({ serverId: others.at(-1) as ObjectId });
  expect(last?.delivery).toMatchObject({ state: 'waiting', attemptCount: 0, attempts: [] });
  bench.clock.move(MINUTE);
  await drainHere(bench.deps, others.at(-1) as ObjectId);
  expect(stranger.connections).toBe(13);
});
