import { connect } from 'node:net';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { pauseListener, resumeListener, setListener } from '../../src/delivery/change-listener.ts';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { revokeToken } from '../../src/servers/api-tokens.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { castVote } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addFetchingServer, type FetchingServer, type TakenVote } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let web: TestDeps;
let server: FetchingServer;
beforeAll(async () => {
  web = await startApp();
  atTheEnd(() => web.close());
});

/** Begins a take that waits; resolves when it waits. */
async function waiting(at: FetchingServer, body: object = {}) {
  await web.deps.listeners.updateOne({ serverId: at.serverId }, { $unset: { fetched: '' } });
  const answer = at.call({ wait_seconds: 30, ...body });
  await vi.waitUntil(
    async () => (await web.deps.listeners.findOne({ serverId: at.serverId }))?.fetched !== undefined,
    EVENTUALLY,
  );
  return { answer };
}

/** Takes over a plain socket, so that the test decides when the connection closes. */
function rawTake(at: FetchingServer, body: object) {
  const { hostname, port } = new URL(web.url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(
    `POST /api/v1/servers/${at.serverId}/deliveries/take HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${at.token}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

describe('a take that waits', () => {
  test('gets a vote as soon as it is cast', async () => {
    server = await addFetchingServer(web);
    const { answer } = await waiting(server);
    const vote = await server.cast('Alex');
    const taken = (await answer).body.deliveries as TakenVote[];
    expect(taken.map(({ vote_id }) => vote_id)).toEqual([vote._id.toString()]);
  });

  test('is answered with an empty list when its time is over', async () => {
    server = await addFetchingServer(web);
    const began = performance.now();
    expect((await server.call({ wait_seconds: 1 })).body).toEqual({ deliveries: [], paused: false });
    expect(performance.now() - began).toBeGreaterThan(990);
  });

  test('finds what no message announced', async () => {
    server = await addFetchingServer(web);
    const { answer } = await waiting(server);
    const silent = { ...web.deps.producer, announceDueVotes: async () => false };
    await castVote(
      { ...web.deps, producer: silent },
      { serverId: server.serverId, username: 'Alex', tokenId: server.tokenId },
    );
    expect((await answer).body.deliveries).toHaveLength(1);
  });

  test('shares votes: one waiter is woken by one vote, and all get some', async () => {
    server = await addFetchingServer(web);
    const answers = [1, 2, 3].map(() => server.call({ wait_seconds: 30, max: 1 }));
    await vi.waitUntil(
      async () => (await web.deps.listeners.findOne({ serverId: server.serverId }))?.fetched,
      EVENTUALLY,
    );
    for (const player of ['a', 'b', 'c']) await server.cast(player);
    const all = (await Promise.all(answers)).flatMap(({ body }) => body.deliveries as TakenVote[]);
    expect(all.map(({ username }) => username).toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('is refused beside four others, with the time of the next one', async () => {
    server = await addFetchingServer(web);
    const four: ReturnType<FetchingServer['call']>[] = [];
    while (four.length < 4) four.push((await waiting(server)).answer);
    const refused = await server.call({ wait_seconds: 1 });
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(10);
    expect(new Date(refused.body.next_allowed_at as string).getTime()).toBeGreaterThan(Date.now());
    // Without waiting it may still take.
    expect((await server.call()).status).toBe(200);
    for (const player of ['a', 'b', 'c', 'd']) await server.cast(player);
    await setListener(
      web.deps,
      server.serverId,
      {
        protocol: 'votifier-v2',
        host: 'mc.example.org',
        port: 8192,
        secret: 'token-0123456789',
        serviceName: 'T',
      },
      'test',
    );
    const statuses = (await Promise.all(four)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 422)).toBe(true);
  });
});

describe('while a take waits', () => {
  test('a revoked token gets no vote', async () => {
    server = await addFetchingServer(web);
    const { answer } = await waiting(server);
    const [token] = await web.deps.apiTokens.find({ serverId: server.serverId, kind: 'deliver' }).toArray();
    if (token) await revokeToken(web.deps, server.serverId, token._id);
    const vote = await server.cast('Alex');
    expect((await answer).status).toBe(401);
    expect((await server.vote(vote._id)).delivery).toMatchObject({ state: 'waiting', attemptCount: 0 });
  });

  test('a paused listener keeps its votes, and a resume hands them out', async () => {
    server = await addFetchingServer(web);
    await pauseListener(web.deps, server.serverId, 'test');
    await server.cast('Alex');
    expect((await server.call({ wait_seconds: 1 })).body).toEqual({ deliveries: [], paused: true });
    const { answer } = await waiting(server);
    await resumeListener(web.deps, server.serverId, 'test');
    expect((await answer).body).toMatchObject({ deliveries: [{ username: 'Alex' }], paused: false });
  });

  test('a removed server answers as one that does not exist, and its votes fail', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const [open] = await server.take({ lease_seconds: 10 });
    const { answer } = await waiting(server);
    await removeServer(web.deps, server.serverId, 'test');
    await web.deps.producer.announceDueVotes(server.serverId.toHexString());
    expect((await answer).status).toBe(401);
    // What was taken has nobody who may settle it: its lease ends, and then it fails with its server.
    await web.deps.votes.updateMany(
      { serverId: server.serverId },
      { $set: { 'delivery.leaseUntil': new Date(0) } },
    );
    await sweepDueWork(web.deps);
    expect((await server.vote(open?.vote_id ?? '')).delivery.state).toBe('failed');
  });

  test('a listener that is changed to Votifier ends it, and back again the open votes come', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const [taken] = await server.take();
    const { answer } = await waiting(server);
    await setListener(
      web.deps,
      server.serverId,
      {
        protocol: 'votifier-v2',
        host: 'mc.example.org',
        port: 8192,
        secret: 'token-0123456789',
        serviceName: 'T',
      },
      'test',
    );
    expect((await answer).body.code).toBe('fetch-not-set');
    await server.cast('Steve');
    await setFetchListener(web.deps, server.serverId, { serviceName: 'Tallyport' }, 'test');
    expect((await server.take()).map(({ username }) => username)).toEqual(['Steve']);
    if (taken) await server.settle([taken], 'delivered');
  });

  test('a client that leaves gets nothing, and its votes are given back uncounted', async () => {
    server = await addFetchingServer(web);
    const socket = rawTake(server, { wait_seconds: 30 });
    await vi.waitUntil(
      async () => (await web.deps.listeners.findOne({ serverId: server.serverId }))?.fetched,
      EVENTUALLY,
    );
    socket.destroy();
    const vote = await server.cast('Alex');
    await vi.waitFor(async () => {
      expect((await server.vote(vote._id)).delivery).toMatchObject({
        state: 'waiting',
        attemptCount: 0,
        attempts: [],
      });
      expect(await server.take()).toMatchObject([{ username: 'Alex', sending: 1 }]);
    }, EVENTUALLY);
  });
});

describe('leases', () => {
  test('a vote whose lease ended comes again as the next sending, and then is unconfirmed', async () => {
    server = await addFetchingServer(web);
    const vote = await server.cast('Alex');
    for (const sending of [1, 2, 3]) {
      await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.nextAt': new Date() } });
      expect(await server.take({ lease_seconds: 10 })).toMatchObject([{ username: 'Alex', sending }]);
      await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.leaseUntil': new Date(0) } });
      await sweepDueWork(web.deps);
    }
    const { state, ends, attempts } = (await server.vote(vote._id)).delivery;
    expect([state, ends]).toEqual(['unconfirmed', { ambiguous: 3 }]);
    expect(attempts.map(({ code, durationMs }) => [code, durationMs])).toEqual(
      [1, 2, 3].map(() => ['lease-ran-out', 10_000]),
    );
  });

  test('if the owner allows fewer sendings while a vote is leased, it is unconfirmed when the lease ends', async () => {
    server = await addFetchingServer(web);
    const vote = await server.cast('Alex');
    await server.take({ lease_seconds: 10 });
    await web.deps.listeners.updateOne({ serverId: server.serverId }, { $set: { maxSendings: 1 } });
    await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.leaseUntil': new Date(0) } });
    await sweepDueWork(web.deps);
    expect((await server.vote(vote._id)).delivery.state).toBe('unconfirmed');
  });

  test('a taker whose lease runs has its own result recorded after an earlier taker’s late acknowledgement', async () => {
    server = await addFetchingServer(web);
    const vote = await server.cast('Alex');
    const [first] = await server.take({ lease_seconds: 10 });
    await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.leaseUntil': new Date(0) } });
    await sweepDueWork(web.deps);
    await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.nextAt': new Date() } });
    const [second] = await server.take();
    if (!first || !second) throw new Error('not taken');
    await server.settle([first], 'delivered');
    const result = { vote_id: second.vote_id, lease: second.lease, outcome: 'retry' };
    expect((await server.done([result])).body).toMatchObject({ settled: [vote._id.toString()], refused: [] });
    const { state, attempts } = (await server.vote(vote._id)).delivery;
    expect([state, ...attempts.map(({ code }) => code)]).toEqual([
      'delivered',
      'acknowledged',
      'fetch-retry',
    ]);
  });

  test('a vote that was taken before the settings changed shows nothing of the new ones', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const taken = await server.take();
    await web.deps.listeners.updateOne(
      { serverId: server.serverId },
      { $inc: { revision: 1 }, $set: { protocol: 'votifier-v2', host: 'mc.example.org', port: 8_192 } },
    );
    await server.settle(taken, 'delivered');
    const listener = await web.deps.listeners.findOne({ serverId: server.serverId });
    expect(listener?.lastDeliveredAt ?? null).toBeNull();
  });

  test('after its lease, delivered and sent count, and other results do not', async () => {
    server = await addFetchingServer(web);
    for (const player of ['a', 'b', 'c', 'd']) await server.cast(player);
    const taken = await server.take({ lease_seconds: 10 });
    await web.deps.votes.updateMany(
      { serverId: server.serverId },
      { $set: { 'delivery.leaseUntil': new Date(0) } },
    );
    const outcomes = ['delivered', 'sent', 'retry', 'failed'];
    const results = taken.map(({ vote_id, lease }, n) => ({ vote_id, lease, outcome: outcomes[n] }));
    const [ofA, ofB, ofC, ofD] = results;
    // Before the sweep has seen it, and after.
    expect((await server.done([ofA ?? {}, ofC ?? {}])).body).toMatchObject({
      settled: [ofA?.vote_id],
      refused: [{ vote_id: ofC?.vote_id, code: 'lease-ended' }],
    });
    await sweepDueWork(web.deps);
    expect((await server.done([ofB ?? {}, ofD ?? {}])).body).toMatchObject({
      settled: [ofB?.vote_id],
      refused: [{ vote_id: ofD?.vote_id, code: 'lease-ended' }],
    });
    const late = (await server.vote(ofB?.vote_id ?? '')).delivery;
    expect([late.state, late.attempts[0]?.code, late.attempts[0]?.lateAt]).toEqual([
      'delivered',
      'sent-not-confirmed',
      expect.any(Date),
    ]);
    expect((await server.vote(ofA?.vote_id ?? '')).delivery.state).toBe('delivered');
  });

  test('they go by the clock of the database, not by that of a process', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const [taken] = await server.take({ lease_seconds: 10 });
    web.clock.move(9 * 60_000);
    try {
      await sweepDueWork(web.deps);
      expect((await server.vote(taken?.vote_id ?? '')).delivery.state).toBe('sending');
    } finally {
      web.clock.move(-9 * 60_000);
    }
    if (taken) await server.settle([taken], 'retry');
  });
});
