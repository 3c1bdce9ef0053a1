import Fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { refuseOverload } from '../../src/http/requests.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { ask } from '../support/api-description.ts';
import { freshNames } from '../support/databases.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { type FaultProxy, mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

const DATABASE = 'The database does not answer: try again in a few seconds.';
const MAY_HAVE_BEEN_COUNTED =
  'The vote may have been counted: ask check-vote, or repeat with the same Idempotency-Key.';

/** A platform whose connection to MongoDB can fail. */
async function behindProxy(): Promise<TestDeps & { proxy: FaultProxy }> {
  const { mongodbUri } = freshNames();
  const proxy = await startFaultProxy(Number(new URL(mongodbUri).port), 'mongodb');
  const tallyport = await startApp({ MONGODB_URI: proxy.through(mongodbUri) });
  onTestFinished(async () => {
    await proxy.restore();
    await tallyport.close();
    await proxy.close();
  });
  return { ...tallyport, proxy };
}

const REPORT = { online_players: 1, max_players: 2 };

describe.each([
  ['hangs', (proxy: FaultProxy) => proxy.hang()],
  ['is gone', (proxy: FaultProxy) => proxy.refuse()],
])('while MongoDB %s', (_, fail) => {
  test('every endpoint answers 503 within 6 s, and works when it is back', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const askAll = () =>
      Promise.all([
        tallyport.vote(server, 'Steve'),
        tallyport.vote(server, 'Alex', { 'idempotency-key': 'key' }),
        tallyport.call(server, 'check-vote?username=Steve'),
        tallyport.report(server, REPORT),
        tallyport.call(server, 'info'),
        tallyport.call(server, 'reviews'),
      ]);
    await tallyport.call(server, 'info');

    await fail(tallyport.proxy);
    const clock = useFastClock();
    const { result: answers, tookMs } = await timed(askAll());
    clock.slowDown();
    expect(tookMs).toBeLessThan(6_000);
    for (const { status, headers, body } of answers) {
      expect([status, body, headers.get('retry-after')]).toMatchObject([
        503,
        { error: DATABASE, code: 'database-unavailable' },
        '5',
      ]);
    }
    await tallyport.proxy.restore();
    await expect.poll(async () => (await tallyport.call(server, 'info')).status).toBe(200);
    expect((await askAll()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

describe('a vote whose insert loses its connection', () => {
  test('before or after MongoDB received it is accepted, once', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const insert = mongoCommand('insert', 'votes');
    const after = tallyport.proxy.cutAfterNext(insert);
    expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
    await after;
    const before = tallyport.proxy.cutBeforeNext(insert);
    expect((await tallyport.vote(server, 'Alex')).status).toBe(200);
    await before;
    expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(2);
  });

  test('permanently is 503 and says so; the same key completes it', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const clock = useFastClock();
    clock.slowDown();
    const cut = tallyport.proxy.cutAfterNext(mongoCommand('insert', 'votes'), async () => {
      await tallyport.proxy.refuse();
      clock.speedUp();
    });
    const key = { 'idempotency-key': 'key' };
    const unknown = await tallyport.vote(server, 'Steve', key);
    await cut;
    clock.slowDown();
    expect([unknown.status, unknown.body]).toMatchObject([
      503,
      { error: MAY_HAVE_BEEN_COUNTED, code: 'result-unknown' },
    ]);
    expect(unknown.headers.get('retry-after')).toBe('5');

    await tallyport.proxy.restore();
    await expect
      .poll(async () => (await tallyport.call(server, 'check-vote?username=Steve')).body.has_voted)
      .toBe(true);
    const repeated = await tallyport.vote(server, 'Steve', key);
    expect([repeated.status, repeated.body.monthly_votes]).toEqual([200, 1]);
    expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
  });

  test('in a call that waits for MongoDB beyond 5 s is 503 and says so', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const released = Promise.withResolvers<void>();
    const clock = useFastClock();
    clock.slowDown();
    const holding = tallyport.proxy.stallNext(mongoCommand('insert', 'votes'), () => {
      clock.speedUp();
      return released.promise;
    });
    const unknown = await tallyport.vote(server, 'Steve');
    expect([unknown.status, unknown.body]).toMatchObject([
      503,
      { error: MAY_HAVE_BEEN_COUNTED, code: 'result-unknown' },
    ]);
    released.resolve();
    await holding;
  });
});

describe('a report whose update loses its connection', () => {
  test('before or after MongoDB received it is accepted, once', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const update = mongoCommand('findAndModify', 'servers');
    for (const cut of [tallyport.proxy.cutAfterNext(update), tallyport.proxy.cutBeforeNext(update)]) {
      expect((await tallyport.report(server, REPORT)).status).toBe(200);
      await cut;
      expect((await tallyport.report(server, REPORT)).status).toBe(429);
      tallyport.clock.move(5 * MINUTE);
    }
    expect(await tallyport.deps.statusSamples.countDocuments({ serverId: server.serverId })).toBe(2);
  });

  test('a lost sample does not change the answer', async () => {
    const tallyport = await behindProxy();
    const server = await tallyport.addServer();
    const cut = tallyport.proxy.cutBeforeNext(mongoCommand('insert', 'status_samples'));
    expect((await tallyport.report(server, REPORT)).status).toBe(200);
    await cut;
    expect((await tallyport.call(server, 'info')).body.status).toBe('online');
    expect(await tallyport.deps.statusSamples.countDocuments({})).toBe(0);
  });
});

test('while a unique index is missing the API answers 503', async () => {
  const tallyport = await behindProxy();
  const server = await tallyport.addServer();
  await tallyport.deps.votes.dropIndex('serverId_1_usernameKey_1_seq_1');
  const refused = await tallyport.vote(server, 'Steve');
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toMatchObject([
    503,
    '5',
    { error: 'The database is not prepared yet: try again in a few seconds.', code: 'database-not-ready' },
  ]);
  expect((await ask(`${tallyport.url}/readyz`)).status).toBe(503);
  await migrateDatabase(tallyport.deps.mongo);
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
});

describe('overload', () => {
  /** Blocks this process for longer than the overload limit. */
  function block(): void {
    const until = performance.now() + 1_500;
    while (performance.now() < until);
  }

  test('a process that cannot keep up answers 503, and recovers', async () => {
    const tallyport = await startApp({ MAX_EVENT_LOOP_DELAY_MS: '1000' });
    onTestFinished(() => tallyport.close());
    const server = await tallyport.addServer();
    const info = () => tallyport.call(server, 'info');
    const overloaded = async () => {
      for (let turn = 0; turn < 2; turn += 1) {
        block();
        await new Promise((resolve) => setTimeout(resolve));
      }
      return Promise.all([info(), ask(`${tallyport.url}/healthz`)]);
    };
    await expect
      .poll(async () => {
        const [refused, health] = await overloaded();
        return [refused.status, refused.headers.get('retry-after'), refused.body, health.status];
      })
      .toMatchObject([
        503,
        '5',
        { error: 'There is too much to do at this moment: try again in a few seconds.', code: 'overloaded' },
        200,
      ]);
    await expect.poll(async () => (await info()).status).toBe(200);
  });

  test('the delay of the start itself does not count', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    await refuseOverload(app, 1_000);
    app.get('/', async () => 'answered');
    app.register(async () => block());
    await app.ready();
    // From now on the library reports the delay, for a second.
    await expect.poll(() => app.isUnderPressure()).toBe(true);
    expect((await app.inject('/')).body).toBe('answered');
  });
});
