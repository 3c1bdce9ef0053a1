import { appRoutes } from '@bull-board/api/dist/routes.js';
import { type Processor, Worker } from 'bullmq';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DELIVERY_QUEUES, type DeliveryQueue } from '../../src/listeners/delivery-queues.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { QUEUES, queuePrefix } from '../../src/platform/queues.ts';
import { openRedis } from '../../src/platform/redis.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import type { DeliveryState } from '../../src/votes/vote.ts';
import { buildWorkers } from '../../workers/build-workers.ts';
import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { signIn } from '../support/sign-in.ts';
import { putInState } from '../support/votes.ts';
import { OWN_ORIGIN, openWebAppOn, type WebApp } from '../support/web-app.ts';

type Method = 'PUT' | 'POST' | 'PATCH';
/** A button of Bull Board. If its path contains `:jobId`, it is pressed for every job. */
type Button = { method: Method; path: string; body?: object; expected: number[] };

const FORGED = { serverId: 'f'.repeat(24), listenerId: 'f'.repeat(24) };

/** Every button of a queue. Depending on the state of the job, a button may be refused with 400, 404, 409 or 500. */
function buttonsOf(queue: DeliveryQueue): Button[] {
  const at = `/api/queues/${queue}`;
  return [
    { method: 'PUT', path: '/api/queues/pause', expected: [200] },
    { method: 'PUT', path: '/api/queues/resume', expected: [200] },
    { method: 'POST', path: `${at}/add`, body: { name: 'x', data: FORGED, options: {} }, expected: [403] },
    ...['completed', 'failed'].map((status) => put(`${at}/retry/${status}`)),
    put(`${at}/promote`),
    ...['completed', 'wait', 'active', 'delayed', 'failed'].map((status) => put(`${at}/clean/${status}`)),
    put(`${at}/pause`),
    put(`${at}/resume`),
    put(`${at}/concurrency`, { concurrency: 1 }),
    put(`${at}/rate-limit`, { max: 1, duration: 100 }),
    put(`${at}/rate-limit/release`),
    put(`${at}/empty`),
    // Bull Board can obliterate only paused queues.
    put(`${at}/obliterate`, { force: true }),
    { method: 'PUT', path: `${at}/job-schedulers/none/remove`, expected: [404] },
    { method: 'PATCH', path: `${at}/job-schedulers/none`, body: { every: 1_000 }, expected: [404] },
    { method: 'PUT', path: `${at}/job-schedulers/none/run`, expected: [404] },
    ofJob('PUT', at, 'retry'),
    ofJob('PUT', at, 'clean'),
    ofJob('PUT', at, 'promote'),
    { method: 'PATCH', path: `${at}/:jobId/update-data`, body: { jobData: FORGED }, expected: [403] },
    ofJob('PATCH', at, 'delay', { runAt: Date.now() + HOUR }),
    ofJob('PATCH', at, 'priority', { priority: 7 }),
    ofJob('PUT', at, 'remove-unprocessed-children'),
  ];
}

const BUTTONS = buttonsOf('forward-votes');

function put(path: string, body?: object): Button {
  return { method: 'PUT', path, ...(body ? { body } : {}), expected: [200] };
}

function ofJob(method: Method, at: string, name: string, body?: object): Button {
  const expected = [200, 204, 400, 404, 409, 500];
  return { method, path: `${at}/:jobId/${name}`, ...(body ? { body } : {}), expected };
}

test('the list has every button of Bull Board', () => {
  const pattern = (path: string) =>
    path.replace(/:\w+|forward-votes|none|completed|failed|wait|active|delayed/g, ':x');
  const known = new Set(BUTTONS.map(({ method, path }) => `${method} ${pattern(path)}`));
  const there = appRoutes.api
    .filter(({ method }) => method !== 'get')
    .map(({ method, route }) => `${String(method).toUpperCase()} ${pattern(String(route))}`);
  expect(known).toEqual(new Set(there));
});

/** Presses `button`, once or for every job of its queue. */
async function press(
  { app, deps }: WebApp,
  headers: object,
  button: Button,
  queue: DeliveryQueue = 'forward-votes',
): Promise<void> {
  const jobs = await deps.queues[queue].getJobs();
  const ids = button.path.includes(':jobId') ? jobs.map((job) => job.id ?? '') : [''];
  if (button.path.endsWith('/obliterate')) await deps.queues[queue].pause();
  for (const id of ids) {
    const answer = await app.inject({
      method: button.method,
      url: `/operator/queues${button.path.replace(':jobId', id)}`,
      headers: { ...headers, ...OWN_ORIGIN },
      ...(button.body ? { payload: button.body } : {}),
    });
    expect(button.expected, `${button.path}: ${answer.body}`).toContain(answer.statusCode);
  }
}

/** The workers of these queues and the sweep; stopped when the test ends. */
function startWorker(deps: AppDeps, queues: DeliveryQueue[] = ['forward-votes']): void {
  const worker = buildWorkers(deps, { metrics: createMetrics(deps), queues });
  onTestFinished(() => worker.close());
}

function openWorker(deps: AppDeps, process: Processor): Worker {
  const { config, log } = deps;
  const connection = openRedis(config.REDIS_URL, log);
  const worker = new Worker('forward-votes', process, {
    connection,
    prefix: queuePrefix(config, 'forward-votes'),
    lockDuration: 400,
    stalledInterval: 200,
    maxStalledCount: 1_000,
    concurrency: 10,
  });
  worker.on('error', () => {});
  worker.on('closed', () => connection.disconnect());
  return worker;
}

/** Adds jobs of the listener in every job state, and its wake-up job. */
async function makeJobs({ deps, serverId }: DeliveryBench): Promise<void> {
  const queue = deps.queues['forward-votes'];
  const listener = await deps.listeners.findOne({ serverId });
  const listenerId = listener?._id.toHexString() ?? '';
  const payload = { serverId: serverId.toHexString(), listenerId };
  const key = QUEUES['forward-votes'].key(payload);
  await queue.obliterate({ force: true });
  await queue.resume();
  const worker = openWorker(deps, async (job) => {
    if (job.name === 'failing') throw new Error('a fault of ours');
    if (job.name === 'hanging') await new Promise(() => {});
  });
  // Bull Board's “clean” removes only jobs older than five seconds.
  const old = { timestamp: Date.now() - HOUR };
  const passing = await queue.add('passing', payload, old);
  const failing = await queue.add('failing', payload, old);
  const hanging = await queue.add('hanging', payload, old);
  // The states of these jobs are checked, not their numbers: if a job was added while the queue was emptied, the
  // queue may hold it as well.
  const isInState = async () =>
    (await passing.isCompleted()) && (await failing.isFailed()) && (await hanging.isActive());
  await vi.waitUntil(isInState, EVENTUALLY);
  await worker.close(true);
  await queue.add('waiting', payload, old);
  // The delayed job of an unreachable listener. Through its deduplication id, plain wake-ups are ignored.
  await queue.add('delayed', payload, { ...old, delay: 2 * HOUR, deduplication: { id: key } });
  await queue.pause();
}

/** Expires the locks of active jobs, so that the next worker treats the jobs as stalled. */
async function expireLocks({ queues, producerRedis }: AppDeps): Promise<void> {
  const queue = queues['forward-votes'];
  for (const { id = '' } of await queue.getActive()) {
    await producerRedis.del(`${queue.toKey(id)}:lock`);
    await producerRedis.sadd(queue.toKey('stalled'), id);
  }
  await producerRedis.del(queue.toKey('stalled-check'));
}

/** Casts one vote in each state and three more that wait. Returns the player names whose votes must arrive. */
async function castVotes(bench: DeliveryBench): Promise<string[]> {
  const { deps, listener } = bench;
  await bench.cast('delivered');
  await bench.drain();
  expect(listener.votes.map((vote) => vote.username)).toEqual(['delivered']);
  const states: DeliveryState[] = ['none', 'unconfirmed', 'failed', 'sending'];
  for (const state of states) {
    await putInState(deps, await bench.cast(state), state);
  }
  const waiting = ['waiting-1', 'waiting-2', 'waiting-3'];
  for (const name of waiting) await bench.cast(name);
  return waiting;
}

/**
 * Waits until the votes of `names` have arrived and these queues are idle. Returns the names of all votes that arrived.
 */
async function arrivals(
  { deps, listener, serverId }: DeliveryBench,
  names: string[],
  queues: readonly DeliveryQueue[] = ['forward-votes'],
): Promise<string[]> {
  const arrived = () => listener.votes.map((vote) => vote.username).toSorted();
  await vi.waitUntil(() => names.every((name) => arrived().includes(name)), EVENTUALLY);
  await vi.waitUntil(async () => {
    const waiting = await deps.votes.countDocuments({ serverId, 'delivery.state': 'waiting' });
    const leased = await deps.listeners.countDocuments({ serverId, lease: { $ne: null } });
    const counts = queues.map((queue) => deps.queues[queue].getJobCountByTypes('active', 'wait'));
    const jobs = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    return waiting + leased + jobs === 0;
  }, EVENTUALLY);
  return arrived();
}

test.each(BUTTONS)('$method $path loses and duplicates no vote', async (button) => {
  const bench = await deliveryBench();
  const web = await openWebAppOn(bench.deps);
  const headers = (await signIn(web, { role: 'operator' })).headers;
  const names = await castVotes(bench);
  await makeJobs(bench);
  await press(web, headers, button);
  await bench.deps.queues['forward-votes'].resume();
  await expireLocks(bench.deps);
  startWorker(bench.deps);
  expect(await arrivals(bench, names)).toEqual(['delivered', ...names]);
});

test('all buttons pressed while votes are sent lose and duplicate no vote', async () => {
  const bench = await deliveryBench();
  const web = await openWebAppOn(bench.deps);
  const headers = (await signIn(web, { role: 'operator' })).headers;
  bench.listener.behaviour = { answerDelayMs: 100 };
  startWorker(bench.deps);
  const names: string[] = [];
  for (const [index, button] of BUTTONS.entries()) {
    for (const half of ['a', 'b']) {
      names.push(`player-${index}${half}`);
      await bench.cast(`player-${index}${half}`);
    }
    await press(web, headers, button);
    await bench.deps.queues['forward-votes'].resume();
  }
  expect(await arrivals(bench, names)).toEqual(names.toSorted());
}, 60_000);

/**
 * For each queue: the behaviour that makes the listener stay in it while the buttons are pressed, and the behaviour
 * that lets its votes arrive.
 */
const HELD_IN = {
  'test-listeners': { votes: 3, held: { onConnect: 'close' }, released: {} },
  'drain-backlogs': { votes: 150, held: { answerDelayMs: 100 }, released: {} },
} as const;

test.each([
  'test-listeners',
  'drain-backlogs',
] as const)('all buttons of %s pressed while it works lose and repeat no vote', async (queue) => {
  const bench = await deliveryBench({
    BREAKER_SCHEDULE: '0.1s',
    DELIVERY_SCHEDULE: '0s,0.1s,0.1s,0.1s,0.1s',
  });
  const web = await openWebAppOn(bench.deps);
  const headers = (await signIn(web, { role: 'operator' })).headers;
  const { votes, held, released } = HELD_IN[queue];
  await bench.cast('first');
  await bench.drain();
  const names = Array.from({ length: votes }, (_, n) => `player-${n}`);
  for (const name of names) await bench.cast(name);
  bench.listener.behaviour = held;
  startWorker(bench.deps, [...DELIVERY_QUEUES]);
  await vi.waitUntil(async () => (await bench.deps.queues[queue].getJobs()).length > 0, EVENTUALLY);
  for (const button of buttonsOf(queue)) {
    await press(web, headers, button, queue);
    await bench.deps.queues[queue].resume();
  }
  bench.listener.behaviour = released;
  expect(await arrivals(bench, names, DELIVERY_QUEUES)).toEqual(['first', ...names].toSorted());
}, 60_000);
