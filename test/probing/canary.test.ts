import { expect, it, onTestFinished } from 'vitest';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { ConfigError } from '../../src/platform/environment.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { createCanary } from '../../src/probing/canary.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testConfig } from '../support/test-deps.ts';

function canary(addresses = '') {
  const config = testConfig({ CANARY_ADDRESSES: addresses, ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  const clock = stoppedClock();
  return { clock, canary: createCanary({ config, clock, ask: createAsk(config) }) };
}

async function responder(): Promise<JavaServer> {
  const server = new JavaServer();
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

const failing = { lastSeenOnline: true, answered: false };
const fine = { lastSeenOnline: true, answered: true };

it('works while a responder accepts connections, and not when it is gone', async () => {
  const server = await responder();
  const { canary: one } = canary(`127.0.0.1:${server.port}`);
  expect(await one.works()).toBe(true);
  await server.stop();
  expect(await one.works()).toBe(false);
  await server.start();
  expect(await one.works()).toBe(true);
});

it('queries a game server by its protocol, and needs only one of several canaries', async () => {
  const [alive, dead] = [await responder(), await responder()];
  dead.manner = { closeAfter: 0 };
  expect(await canary(`minecraft@127.0.0.1:${dead.port}`).canary.works()).toBe(false);
  const both = `minecraft@127.0.0.1:${dead.port}, minecraft@127.0.0.1:${alive.port}`;
  expect(await canary(both).canary.works()).toBe(true);
});

it('shares one check among simultaneous failures', async () => {
  const server = await responder();
  const { canary: one } = canary(`minecraft@127.0.0.1:${server.port}`);
  const answers = await Promise.all(Array.from({ length: 200 }, () => one.works()));
  expect(new Set(answers)).toEqual(new Set([true]));
  expect(server.asked).toBeLessThanOrEqual(2);
});

it('treats an unknown game as a configuration error', () => {
  expect(() => canary('minecrafft@127.0.0.1:1')).toThrow(ConfigError);
});

it('without addresses fails when more than half of the servers last seen online fail within a minute', async () => {
  const { canary: listing, clock } = canary();
  for (let i = 0; i < 10; i += 1) listing.note(`fine ${i}`, fine);
  for (let i = 0; i < 10; i += 1) listing.note(`failing ${i}`, failing);
  expect(await listing.works()).toBe(true);
  listing.note('one more', failing);
  expect(await listing.works()).toBe(false);
  listing.note('one more', fine);
  expect(await listing.works()).toBe(true);
  for (let i = 0; i < 10; i += 1) listing.note(`failing too ${i}`, failing);
  expect(await listing.works()).toBe(false);
  clock.move(MINUTE + 1);
  listing.note('one more', fine);
  expect(await listing.works()).toBe(true);
});

it('without addresses allows a listing of two servers to show both as offline', async () => {
  const { canary: listing } = canary();
  for (const server of ['a', 'b']) listing.note(server, failing);
  expect(await listing.works()).toBe(true);
});

it('without addresses fails in a small listing when three servers fail in a row, even far apart', async () => {
  const { canary: listing, clock } = canary();
  const servers = ['a', 'b', 'c', 'd'];
  const verdicts = [];
  // The third round would make them offline.
  for (let check = 0; check < 9; check += 1) {
    listing.note(servers[check % 4] ?? '', failing);
    verdicts.push(await listing.works());
    clock.move(75 * SECOND);
  }
  expect(verdicts).toEqual([true, true, ...Array.from({ length: 7 }, () => false)]);
  listing.note('a', fine);
  listing.note('b', failing);
  expect(await listing.works()).toBe(true);
});

it('without addresses forgets failures of a small listing after a round', async () => {
  const { canary: listing, clock } = canary();
  for (const server of ['a', 'b', 'c']) listing.note(server, failing);
  expect(await listing.works()).toBe(false);
  clock.move(6 * MINUTE + 1);
  expect(await listing.works()).toBe(true);
});

it('without addresses ignores three failures in a row among many checks', async () => {
  const { canary: listing } = canary();
  for (let i = 0; i < 10; i += 1) listing.note(`fine ${i}`, fine);
  for (const server of ['a', 'b', 'c']) listing.note(server, failing);
  expect(await listing.works()).toBe(true);
});

it('without addresses ignores servers that were not online', async () => {
  const { canary: listing } = canary();
  for (let i = 0; i < 100; i += 1) listing.note(`dead ${i}`, { lastSeenOnline: false, answered: false });
  expect(await listing.works()).toBe(true);
});
