import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { dueSubscriptions } from '../../src/events/send-events.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addDueJobs } from '../../workers/build-scheduler.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { startWorker } from '../support/workers.ts';
import { messagesOf, sendingBench } from './sending-bench.ts';

/** The bench with the machine's clock, as its workers have it. */
async function runningBench(env: Record<string, string> = {}) {
  const bench = await sendingBench(env);
  const tick = () => bench.clock.set(new Date());
  const worker = () => startWorker(bench.deps.config, { args: ['send-events'] });
  return { ...bench, tick, worker };
}

/** A website that never ends its headers. */
async function startDrippingSite() {
  const site = await startFakeHttpListener();
  const open = new Set<ServerResponse>();
  site.answerChallenge = (response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    response.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    const drip = setInterval(() => response.socket?.write('a'), 100);
    response.on('close', () => clearInterval(drip));
  };
  return { site, open };
}

async function startSiteWith(status: number, headers: Record<string, string> = {}) {
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(status, headers).end();
  return site;
}

test('ten destinations, three dead, two dripping and one limited: the others have their events meanwhile', async () => {
  const { tick, subscribe, happen, worker } = await runningBench({ LISTENER_TIMEOUT_MS: '7000' });
  const dead = { ...(await startFakeHttpListener()), port: 1 };
  const dripping = [await startDrippingSite(), await startDrippingSite()];
  const limited = await startSiteWith(429, { 'retry-after': '1' });
  const good = await Promise.all([1, 2, 3, 4].map(() => startFakeHttpListener()));
  for (const site of [dead, dead, dead, ...dripping.map((one) => one.site), limited, ...good])
    await subscribe(site);
  await worker();
  const ids = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    tick();
    for (const { _id } of await happen(20)) ids.add(_id);
    await vi.waitUntil(() => good.every(({ received }) => received.length === ids.size), EVENTUALLY);
    // The dripping ones are still at their first attempt.
    if (round === 0) await vi.waitUntil(() => dripping.every(({ open }) => open.size === 1), EVENTUALLY);
  }
  for (const site of good) expect(new Set(messagesOf(site).map(({ id }) => id))).toEqual(ids);
  // Retry-After is kept within a second or two.
  await vi.waitUntil(() => limited.received.length >= 2, EVENTUALLY);
});

test('slow destinations never have more than half of the places', async () => {
  const { deps, tick, subscribe, happen, worker } = await runningBench({ LISTENER_TIMEOUT_MS: '7000' });
  const sites = await Promise.all(Array.from({ length: 9 }, () => startDrippingSite()));
  for (const { site } of sites) await subscribe(site);
  await deps.subscriptions.updateMany({}, { $set: { slowUntil: new Date('2100-01-01') } });
  const good = await startFakeHttpListener();
  await subscribe(good);
  await worker();
  tick();
  await happen(3);
  await vi.waitUntil(() => good.received.length === 3, EVENTUALLY);
  const atOnce = () => sites.filter(({ open }) => open.size > 0).length;
  await vi.waitUntil(() => atOnce() === 8, EVENTUALLY);
  expect(sites.reduce((sum, { site }) => sum + site.challenges, 0)).toBe(8);
});

test('an event whose wake-up was lost is found by the scheduler', async () => {
  const { deps, tick, subscribe, happen, worker } = await runningBench();
  const site = await startFakeHttpListener();
  await subscribe(site);
  await worker();
  tick();
  await happen();
  await vi.waitUntil(() => site.received.length === 1, EVENTUALLY);
  vi.spyOn(deps.producer, 'addAll').mockResolvedValueOnce(0);
  tick();
  await happen();
  await vi.waitUntil(async () => (await dueSubscriptions(deps)).length === 1, EVENTUALLY);
  expect(site.received).toHaveLength(1);
  await addDueJobs(deps, 'send-events');
  await vi.waitUntil(() => site.received.length === 2, EVENTUALLY);
});

test('a source that dies between the insert and the wake-up sends each event once when it repeats itself', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { pass, read } = await subscribe(site);
  const twice: Parameters<typeof happen>[1] = { _id: 'evt_1', data: { votes: 1 } };
  vi.spyOn(deps.subscriptions, 'updateMany').mockRejectedValueOnce(new Error('the process died'));
  await expect(happen(1, twice)).rejects.toThrow('the process died');
  expect(await read()).not.toHaveProperty('nextPassAt');
  await happen(1, twice);
  expect(await read()).toHaveProperty('nextPassAt');
  await pass();
  await happen(1, twice);
  await pass();
  expect(messagesOf(site).map(({ id }) => id)).toEqual(['evt_1']);
});

test('a worker that stops finishes what it sent; another one sends the rest', async () => {
  const { deps, tick, subscribe, happen, worker } = await runningBench({ LISTENER_TIMEOUT_MS: '5000' });
  const site = await startFakeHttpListener();
  await subscribe(site);
  const [first] = [await worker()];
  let stopped: Promise<void> | undefined;
  site.answer = (response) => {
    stopped ??= first.stop();
    setTimeout(() => response.writeHead(200).end(), 50);
  };
  tick();
  const events = await happen(60);
  await vi.waitUntil(() => stopped !== undefined, EVENTUALLY);
  await stopped;
  const sent = site.received.length;
  expect(sent).toBeLessThan(60);
  expect(await deps.events.countDocuments({ 'sends.0': { $exists: true } })).toBe(60 - sent);
  site.answer = (response) => response.writeHead(200).end();
  await worker();
  await vi.waitUntil(() => site.received.length >= 60, EVENTUALLY);
  await vi.waitUntil(async () => (await countWaiting(deps)) === 0, EVENTUALLY);
  expect(
    messagesOf(site)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(events.map(({ _id }) => _id).toSorted());
});

function countWaiting({ events }: AppDeps): Promise<number> {
  return events.countDocuments({ 'sends.0': { $exists: true } });
}
