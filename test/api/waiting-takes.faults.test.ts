import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addFetchingServer, type FetchingServer, type TakenVote } from '../support/fetching.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { startApp } from '../support/start-app.ts';
import { startWeb } from '../support/web-process.ts';
import { startWorker } from '../support/workers.ts';

type Ended = { status: number; deliveries: TakenVote[] } | 'cut';

/** Many takes that wait at `url`, on a connection each. One that an overloaded process refuses is made again. */
function manyTakes(url: string, servers: FetchingServer[], each: number) {
  const agent = new Agent({ keepAlive: false });
  const sockets = new Set<Socket>();
  const ended = servers.flatMap(({ serverId, token }) =>
    Array.from({ length: each }, () => {
      return new Promise<Ended>((resolve) => {
        const body = JSON.stringify({ wait_seconds: 30 });
        const headers = {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        };
        const path = `/api/v1/servers/${serverId}/deliveries/take`;
        const send = () => {
          const sent = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
            let text = '';
            response.on('data', (chunk) => {
              text += chunk;
            });
            response.on('end', () => {
              if (response.statusCode === 503) setTimeout(send, 200);
              else resolve({ status: response.statusCode ?? 0, ...JSON.parse(text) });
            });
            response.on('error', () => resolve('cut'));
          });
          sent.on('socket', (socket) => sockets.add(socket));
          sent.on('error', () => resolve('cut'));
          sent.end(body);
        };
        send();
      });
    }),
  );
  return { ended: Promise.all(ended), sockets };
}

test('a web process that is killed while 1,000 takes wait loses no vote, and one that stops answers them at once', {
  timeout: 120_000,
}, async () => {
  const app = await startApp();
  onTestFinished(() => app.close());
  const servers: FetchingServer[] = [];
  for (let n = 0; n < 250; n += 1) servers.push(await addFetchingServer(app));
  const noted = () => app.deps.listeners.countDocuments({ fetched: { $exists: true } });
  for (const end of ['SIGKILL', 'SIGTERM'] as const) {
    await app.deps.listeners.updateMany({}, { $unset: { fetched: '' } });
    const web = await startWeb(app.env);
    const { ended } = manyTakes(web.url, servers, 4);
    await vi.waitUntil(async () => (await noted()) === servers.length, EVENTUALLY);
    await new Promise((resolve) => setTimeout(resolve, SECOND));
    web.child.kill(end);
    const answers = await ended;
    await web.ended;
    if (end === 'SIGKILL') expect(new Set(answers)).toEqual(new Set(['cut']));
    else expect(answers).toEqual(answers.map(() => ({ status: 200, deliveries: [], paused: false })));
  }
  // Nothing was taken for those that waited.
  const votes = await Promise.all(servers.slice(0, 20).map((server) => server.cast('Alex')));
  for (const [n, vote] of votes.entries())
    expect(await servers[n]?.take()).toMatchObject([{ vote_id: vote._id.toString(), sending: 1 }]);
});

test('without Redis a take that waits gets its vote within seconds', { timeout: 60_000 }, async () => {
  const redis = await startRedis();
  const app = await startApp({ REDIS_URL: redis.url });
  onTestFinished(async () => {
    await redis.kill().catch(() => undefined);
    await app.close();
  });
  const server = await addFetchingServer(app);
  for (const fault of ['pause', 'kill'] as const) {
    await redis[fault]();
    const answer = server.call({ wait_seconds: 20 });
    await vi.waitUntil(
      async () => (await app.deps.listeners.findOne({ serverId: server.serverId }))?.fetched,
      EVENTUALLY,
    );
    const vote = await server.cast(fault);
    expect((await answer).body.deliveries).toMatchObject([{ vote_id: vote._id.toString() }]);
    if (fault === 'pause') redis.resume();
  }
});

test('while MongoDB is away takes wait on or get 503, and no vote is lost', { timeout: 90_000 }, async () => {
  const mongod = await startMongod();
  const app = await startApp({ MONGODB_URI: `${mongod.uri}/fetching` });
  onTestFinished(async () => {
    mongod.resume();
    await app.close();
    await mongod.kill().catch(() => undefined);
  });
  const server = await addFetchingServer(app);
  const waiting = server.call({ wait_seconds: 12 });
  await vi.waitUntil(
    async () => (await app.deps.listeners.findOne({ serverId: server.serverId }))?.fetched,
    EVENTUALLY,
  );
  const vote = await server.cast('before');
  expect((await waiting).body.deliveries).toMatchObject([{ vote_id: vote._id.toString() }]);
  const quiet = server.call({ wait_seconds: 8 });
  await new Promise((resolve) => setTimeout(resolve, SECOND));
  await mongod.pause();
  const refused = await server.call();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await quiet).body).toMatchObject({ deliveries: [] });
  mongod.resume();
  await vi.waitFor(async () => expect((await server.call()).status).toBe(200), EVENTUALLY);
  await server.cast('after');
  await vi.waitFor(async () => {
    expect((await server.take()).map(({ username }) => username)).toEqual(['after']);
  }, EVENTUALLY);
});

test('a taker that dies between take and done gets its votes again when the lease has ended', {
  timeout: 90_000,
}, async () => {
  const app = await startApp({ RELAY_INTERVAL_MS: '500', DELIVERY_SCHEDULE: '0s,0.5s' });
  onTestFinished(() => app.close());
  await startWorker(app.deps.config);
  const server = await addFetchingServer(app);
  const vote = await server.cast('Alex');
  const [first] = await server.take({ lease_seconds: 10 });
  const again = await server.call({ wait_seconds: 30 });
  expect(again.body.deliveries).toMatchObject([{ vote_id: vote._id.toString(), sending: 2 }]);
  const { attempts } = (await server.vote(vote._id)).delivery;
  expect(attempts.map(({ code }) => code)).toEqual(['lease-ran-out', undefined]);
  // Its acknowledgement, late as it is, counts.
  if (first) await server.settle([first], 'delivered');
  expect((await server.vote(vote._id)).delivery.state).toBe('delivered');
});
