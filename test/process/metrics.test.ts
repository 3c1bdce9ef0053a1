import { DelayedError, type Job, Worker } from 'bullmq';
import Fastify from 'fastify';
import { ObjectId, UUID } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { oldestDueVote } from '../../src/delivery/count-votes.ts';
import { type Listener, REACHABLE } from '../../src/listeners/listener.ts';
import { after, DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { delayJob } from '../../src/platform/delayed-jobs.ts';
import { ConfigError } from '../../src/platform/environment.ts';
import { queuePrefix } from '../../src/platform/queues.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { createMetrics, measureRequests } from '../../src/process/metrics.ts';
import { serveProcessEndpoints } from '../../src/process/process.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { type Delivery, DUE_VOTES } from '../../src/votes/vote.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { listServers } from '../support/servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveryIn, storedVote } from '../support/votes.ts';

/** The value of a sample such as `tallyport_open_votes{listener="active"}`; undefined when it is absent. */
function sample(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

async function addListener(
  { listeners, clock }: AppDeps,
  state: Pick<Listener, 'pause' | 'breaker'> = { pause: null, breaker: REACHABLE },
  serverId = new ObjectId(),
): Promise<ObjectId> {
  await listeners.insertOne({
    _id: new ObjectId(),
    serverId,
    protocol: 'votifier-v2',
    host: '127.0.0.1',
    port: 8192,
    sealedSecret: 'v1.x.x.x.x',
    serviceName: 'Tallyport',
    revision: 1,
    createdAt: clock.now(),
    updatedAt: clock.now(),
    voteFaults: 0,
    lastDeliveredAt: null,
    lease: null,
    ...state,
  });
  return serverId;
}

async function addVote(
  { votes, clock }: AppDeps,
  serverId: ObjectId,
  delivery: Partial<Delivery>,
  votedAt = clock.now(),
): Promise<void> {
  const player = new ObjectId().toHexString();
  const waiting = deliveryIn('waiting', delivery);
  await votes.insertOne(storedVote(serverId, player, votedAt, { delivery: waiting }));
}

test('waiting work is the due votes of reachable listeners, with its age', async () => {
  const deps = { ...(await testDeps()), clock: stoppedClock() };
  const now = deps.clock.now();
  const ago = (minutes: number) => after(now, -minutes * MINUTE);
  const active = await addListener(deps);
  const paused = await addListener(deps, { pause: { at: now, by: 'owner' }, breaker: REACHABLE });
  const unreachable = await addListener(deps, {
    pause: null,
    breaker: { failures: 3, tests: 0, openSince: now, nextTestAt: now },
  });
  await addVote(deps, active, { queuedAt: ago(10), nextAt: ago(2) });
  await addVote(deps, active, { queuedAt: ago(9), nextAt: ago(1) });
  await addVote(deps, active, { queuedAt: ago(30), nextAt: ago(-30) });
  await addVote(deps, active, { state: 'sending', queuedAt: ago(3), leaseUntil: ago(-1) });
  await addVote(deps, active, { state: 'delivered' });
  for (let n = 0; n < 3; n += 1) await addVote(deps, paused, { queuedAt: ago(60), nextAt: ago(60) });
  await addVote(deps, unreachable, { queuedAt: ago(90), nextAt: ago(90) });

  const text = await createMetrics(deps).text();
  expect(sample(text, 'tallyport_waiting_work{queue="forward-votes"}')).toBe(2);
  expect(sample(text, 'tallyport_oldest_waiting_work_seconds{queue="forward-votes"}')).toBe(120);
  expect(sample(text, 'tallyport_open_votes{listener="active"}')).toBe(4);
  expect(sample(text, 'tallyport_open_votes{listener="paused"}')).toBe(3);
  expect(sample(text, 'tallyport_open_votes{listener="unreachable"}')).toBe(1);
  expect(sample(text, 'tallyport_listeners{state="active"}')).toBe(1);
  expect(sample(text, 'tallyport_listeners{state="paused"}')).toBe(1);
  expect(sample(text, 'tallyport_listeners{state="unreachable"}')).toBe(1);
  expect(sample(text, 'tallyport_mongodb_up')).toBe(1);
});

test('the age of the ranks is absent before the first ranking', async () => {
  const deps = { ...(await testDeps()), clock: stoppedClock() };
  expect(sample(await createMetrics(deps).text(), 'tallyport_ranks_age_seconds')).toBeUndefined();
  await recomputeRanks(deps);
  deps.clock.move(90 * SECOND);
  expect(sample(await createMetrics(deps).text(), 'tallyport_ranks_age_seconds')).toBe(90);
});

test('the listener of a removed server is not counted', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const [listed, removed] = await listServers(deps, [{}, {}]);
  const unreachable = {
    pause: null,
    breaker: { failures: 3, tests: 0, openSince: now, nextTestAt: now },
  };
  await addListener(deps, unreachable, listed);
  await addListener(deps, unreachable, removed);
  if (removed) await removeServer(deps, removed, 'operator');

  const text = await createMetrics(deps).text();
  expect(sample(text, 'tallyport_listeners{state="unreachable"}')).toBe(1);
  const { executionStats } = await deps.servers
    .find({ removedAt: { $type: 'date' } }, { projection: { _id: 1 } })
    .explain('executionStats');
  expect(executionStats).toMatchObject({ nReturned: 1, totalKeysExamined: 1, totalDocsExamined: 0 });
});

test('waiting votes are counted by the time since they were cast and by the state of their listener', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const ago = (minutes: number) => after(now, -minutes * MINUTE);
  const active = await addListener(deps);
  const paused = await addListener(deps, { pause: { at: now, by: 'owner' }, breaker: REACHABLE });
  const ages = [0, 0.5, 2, 9, 30, 61, 400, 23 * 60, 25 * 60, 70 * 60];
  for (const [n, age] of ages.entries()) {
    await addVote(deps, n % 2 ? active : paused, { queuedAt: ago(age), nextAt: now }, ago(age));
  }
  await addVote(deps, active, { state: 'sending', queuedAt: now }, ago(30));
  await addVote(deps, active, { state: 'delivered' }, ago(30));
  const text = await createMetrics(deps).text();
  const counted = ['under_1m', '1m_to_10m', '10m_to_1h', '1h_to_6h', '6h_to_24h', 'over_24h'];
  const waitingAt = (listener: string) =>
    counted.map((age) => sample(text, `tallyport_waiting_votes{age="${age}",listener="${listener}"}`));
  expect(waitingAt('active')).toEqual([1, 1, 0, 1, 1, 1]);
  expect(waitingAt('paused')).toEqual([1, 1, 1, 0, 1, 1]);
  expect(waitingAt('unreachable')).toEqual([0, 0, 0, 0, 0, 0]);
});

test('counts stop at ten thousand votes, and the age is still that of the oldest', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const [first, last] = [await addListener(deps), await addListener(deps)];
  await addVote(deps, first, { queuedAt: now, nextAt: now });
  const model = await deps.votes.findOne({ serverId: first });
  if (!model) throw new Error('not added');
  const votes = Array.from({ length: 10_500 }, () => {
    return { ...model, _id: new UUID(), usernameKey: new ObjectId().toHexString() };
  });
  for (let at = 0; at < votes.length; at += 2_000) await deps.votes.insertMany(votes.slice(at, at + 2_000));
  const hourAgo = after(now, -60 * MINUTE);
  await addVote(deps, last, { queuedAt: hourAgo, nextAt: hourAgo }, hourAgo);

  const text = await createMetrics(deps).text();
  expect(sample(text, 'tallyport_open_votes{listener="active"}')).toBe(10_000);
  expect(sample(text, 'tallyport_waiting_votes{age="under_1m",listener="active"}')).toBe(10_000);
  expect(sample(text, 'tallyport_waiting_work{queue="forward-votes"}')).toBe(10_000);
  const age = sample(text, 'tallyport_oldest_waiting_work_seconds{queue="forward-votes"}');
  expect(age).toBeGreaterThanOrEqual(3_600);

  const due = { serverId: { $in: [first, last] }, 'delivery.nextAt': { $gt: new Date(0), $lte: now } };
  const explained = await deps.votes.aggregate(oldestDueVote(due), { hint: DUE_VOTES }).explain();
  expect(JSON.stringify(explained)).toContain('DISTINCT_SCAN');
}, 60_000);

test('open votes are counted only with the index of open work', async () => {
  const deps = await testDeps();
  const busy = await addListener(deps);
  await addVote(deps, busy, { queuedAt: new Date(), nextAt: new Date() });
  await Promise.all(Array.from({ length: 50 }, () => addVote(deps, busy, { state: 'delivered' })));
  const { executionStats } = await deps.votes
    .find({ serverId: { $in: [busy] }, 'delivery.queuedAt': { $gt: new Date(0) } })
    .hint('open_work')
    .project({ _id: 1 })
    .explain('executionStats');
  expect(executionStats.totalDocsExamined).toBe(0);
  expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(2);
});

test('the jobs of every queue are counted, a waiting one with its age', async () => {
  const deps = await testDeps();
  await vi.waitUntil(() => deps.producer.add('clean-up', { day: '2026-11-20' }), EVENTUALLY);
  const text = await createMetrics(deps).text();
  expect(sample(text, 'tallyport_redis_up')).toBe(1);
  expect(sample(text, 'tallyport_jobs{queue="clean-up",state="waiting"}')).toBe(1);
  expect(sample(text, 'tallyport_jobs{queue="forward-votes",state="delayed"}')).toBe(0);
  expect(sample(text, 'tallyport_waiting_work{queue="clean-up"}')).toBe(1);
  expect(sample(text, 'tallyport_oldest_waiting_work_seconds{queue="clean-up"}')).toBeGreaterThanOrEqual(0);
});

test('the age of a queue is that of its oldest job, also when newer ones go first', async () => {
  const deps = await testDeps();
  const { queues, producer } = deps;
  const old = { timestamp: Date.now() - MINUTE, priority: 1 };
  await queues['draw-cards'].add('Draw', { serverId: 'a' }, old);
  const jobs = [true, false].map((last) => ({ payload: { serverId: new ObjectId().toHexString() }, last }));
  expect(await producer.addAll('draw-cards', jobs)).toBe(2);
  expect(await queues['draw-cards'].getJobCounts('waiting', 'prioritized')).toEqual({
    waiting: 1,
    prioritized: 2,
  });
  const text = await createMetrics(deps).text();
  const age = sample(text, 'tallyport_oldest_waiting_work_seconds{queue="draw-cards"}');
  expect(age).toBeGreaterThanOrEqual(60);
});

test('the age of a delayed job begins when it is due, also after BullMQ has made it a waiting one', async () => {
  const deps = { ...(await testDeps()), clock: stoppedClock() };
  const { config, clock, queues, producerRedis: connection } = deps;
  const queue = queues['test-listeners'];
  await queue.add('Test', { serverId: 'a' }, { timestamp: clock.now().getTime() - 2 * DAY });
  const worker = new Worker(queue.name, null, { connection, prefix: queuePrefix(config, 'test-listeners') });
  onTestFinished(() => worker.close());
  const job: Job | undefined = await worker.getNextJob('a token');
  if (!job) throw new Error('no job');
  await job.updateProgress({ server: 'Alpha' });
  const dueAt = after(clock.now(), MINUTE);
  await expect(delayJob(job, 'a token', dueAt)).rejects.toThrow(DelayedError);

  const measured = async () => {
    const text = await createMetrics(deps).text();
    return {
      waiting: sample(text, 'tallyport_waiting_work{queue="test-listeners"}'),
      age: sample(text, 'tallyport_oldest_waiting_work_seconds{queue="test-listeners"}'),
    };
  };
  expect(await measured()).toEqual({ waiting: 0, age: 0 });
  clock.set(after(dueAt, SECOND));
  expect(await measured()).toEqual({ waiting: 1, age: 1 });
  await job.promote();
  expect((await queue.getWaiting()).map(({ progress }) => progress)).toMatchObject([{ server: 'Alpha' }]);
  expect(await measured()).toEqual({ waiting: 1, age: 1 });
});

test('scrapes within ten seconds count once', async () => {
  const deps = await testDeps();
  await addVote(deps, await addListener(deps), { queuedAt: new Date(), nextAt: new Date() });
  const count = vi.spyOn(deps.votes, 'countDocuments');
  const metrics = createMetrics(deps);
  await Promise.all([metrics.text(), metrics.text()]);
  await metrics.text();
  expect(count).toHaveBeenCalledTimes(11);
});

test('votes, attempts and arrivals are counted by result', async () => {
  const metrics = createMetrics(await testDeps());
  metrics.count('tallyport_votes_total', { result: 'accepted' });
  metrics.count('tallyport_votes_total', { result: 'accepted' });
  metrics.count('tallyport_votes_total', { result: 'refused' });
  const protocol = 'votifier-v2';
  const refused = { class: 'transient', code: 'connection-refused', protocol } as const;
  metrics.count('tallyport_delivery_attempts_total', refused);
  metrics.observe('tallyport_delivery_latency_seconds', { protocol }, 1.5);
  metrics.observe('tallyport_delivery_delay_seconds', { queue: 'forward-votes' }, 12);
  const text = await metrics.text();
  expect(sample(text, 'tallyport_votes_total{result="accepted"}')).toBe(2);
  expect(sample(text, 'tallyport_votes_total{result="refused"}')).toBe(1);
  expect(
    sample(
      text,
      'tallyport_delivery_attempts_total{class="transient",code="connection-refused",protocol="votifier-v2"}',
    ),
  ).toBe(1);
  expect(sample(text, 'tallyport_delivery_latency_seconds_sum{protocol="votifier-v2"}')).toBe(1.5);
  const delays = (queue: string, le: string) =>
    sample(text, `tallyport_delivery_delay_seconds_bucket{le="${le}",queue="${queue}"}`);
  expect([delays('forward-votes', '10'), delays('forward-votes', '30')]).toEqual([0, 1]);
  // Series exist before their first increase, which `rate()` would miss otherwise.
  expect(delays('drain-backlogs', '+Inf')).toBe(0);
  expect(text).toContain('code="our-fault",protocol="http"} 0\n');
  expect(text).toContain('process_cpu_user_seconds_total');
});

test('requests are measured by the pattern of their route, all unknown paths as one', async () => {
  const metrics = createMetrics(await testDeps());
  const app = Fastify();
  onTestFinished(() => app.close());
  measureRequests(app, metrics);
  app.get('/servers/:serverId', async () => ({}));
  await app.inject('/servers/1');
  await app.inject('/servers/2');
  await app.inject('/wp-login.php');
  await app.inject('/.env');
  const text = await metrics.text();
  const counted = (route: string, status: number) =>
    sample(
      text,
      `tallyport_http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`,
    );
  expect(counted('/servers/:serverId', 200)).toBe(2);
  expect(counted('none', 404)).toBe(2);
  expect(text).not.toContain('wp-login');
});

test('a process serves health and metrics on its own port', async () => {
  const deps = await testDeps({ METRICS_PORT: '0' });
  const readiness = async () => ({
    ready: true,
    degraded: false,
    checks: { mongodb: 'ok', restore: 'ok', indexes: 'ok', clock: 'ok', redis: 'ok' },
  });
  const endpoints = await serveProcessEndpoints(deps, { metrics: createMetrics(deps), readiness });
  onTestFinished(() => endpoints.close());
  expect(endpoints.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

  const get = (path: string) => fetch(endpoints.address + path);
  expect(await (await get('/healthz')).json()).toEqual({ alive: true });
  expect((await get('/readyz')).status).toBe(200);
  const metrics = await get('/metrics');
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await metrics.text()).toContain('tallyport_redis_up');
  const other = await get('/operator');
  expect(other.status).toBe(404);
  expect(Object.keys((await other.json()) as object)).toEqual(['error', 'code']);

  const taken = {
    ...deps,
    config: { ...deps.config, METRICS_PORT: Number(new URL(endpoints.address).port) },
  };
  const again = serveProcessEndpoints(taken, { metrics: createMetrics(deps), readiness });
  await expect(again).rejects.toThrow(ConfigError);
  await expect(again).rejects.toThrow(/METRICS_PORT \d+ is taken on 127\.0\.0\.1/);
});
