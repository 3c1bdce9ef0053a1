import { ObjectId } from 'mongodb';
import { beforeEach, expect, test } from 'vitest';
import { reportStatus } from '../../src/history/report-status.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
let clock: StoppedClock;
let serverId: ObjectId;

beforeEach(async () => {
  clock = stoppedClock(new Date('2026-05-20T12:00:00Z'));
  deps = { ...(await testDeps()), clock };
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565, game: 'minecraft' };
  serverId = new ObjectId((await addServer(deps, settings, 'test')).serverId);
});

const serverNow = async () => {
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('gone');
  return server;
};

/** A probe a minute later, answered with this number of players. */
async function probe(onlinePlayers: number): Promise<void> {
  clock.move(MINUTE);
  const answer = { onlinePlayers, maxPlayers: 1_000, motd: '', version: '', latencyMs: 20 };
  const canary = { note: () => {}, works: async () => true };
  const ask = async () => ({ ok: true as const, answer });
  const checked = await checkServer({ ...deps, ask, canary } as never, await serverNow());
  expect(checked.kind).toBe('recorded');
}

async function report(onlinePlayers: number): Promise<void> {
  clock.move(5 * MINUTE);
  await reportStatus(deps, serverId, { onlinePlayers, maxPlayers: 1_000 });
}

const found = async () => (await serverNow()).playersDiffer;

test.each([
  [400, 12, true],
  [12, 400, true],
  [11, 0, true],
  [10, 0, false],
  [20, 9, true],
  [20, 10, false],
  [1_000, 500, false],
  [1_000, 499, true],
])('%i reported and %i found: players differ %s', async (reported, probed, remarked) => {
  await report(reported);
  await probe(probed);
  if (remarked) expect(await found()).toEqual({ at: clock.now(), reported, probed });
  else expect(await found()).toBeUndefined();
});

test('a report is compared once, and the next one that agrees removes the difference', async () => {
  await report(400);
  await probe(12);
  const first = await found();
  await probe(30);
  expect(await found()).toEqual(first);
  await report(30);
  await probe(30);
  expect(await found()).toBeUndefined();
});

test('a report of over an hour ago is not compared, nor is a server that never reported', async () => {
  await probe(500);
  expect(await found()).toBeUndefined();
  await report(400);
  clock.move(HOUR);
  await probe(12);
  expect(await found()).toBeUndefined();
});
