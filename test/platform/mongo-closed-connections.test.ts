import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { unmigratedNames } from '../support/databases.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';

const ROUNDS = 5;
const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');

test.each([
  ['plain', ''],
  // The driver compresses a message before it writes it; the connection may close meanwhile.
  ['compressed', '?compressors=zlib'],
])('each operation settles, however its connection is closed: %s messages', async (_, query) => {
  const proxy = await startFaultProxy(Number(new URL(inject('mongodbUri')).port), 'mongodb');
  onTestFinished(() => proxy.close());
  const options = { operationMs: SECOND };
  const mongo = await openMongo(`${proxy.through(unmigratedNames().mongodbUri)}${query}`, log, options);
  onTestFinished(() => mongo.close());

  let answered = 0;
  async function ping(): Promise<void> {
    const answer = await mongo.db.command({ ping: 1 }).catch(() => null);
    if (answer) answered += 1;
  }
  const open = new Set<Promise<void>>();
  const operate = () => {
    const operation = ping();
    open.add(operation);
    void operation.then(() => open.delete(operation));
  };

  for (let round = 0; round < ROUNDS; round += 1) {
    // Many connections, which are idle when they are closed.
    for (let n = 0; n < 20; n += 1) operate();
    await pause(30);
    const refused = proxy.refuse();
    // A write between the loss of a socket and its event `close`.
    for (let turn = 0; turn < 200; turn += 1) {
      operate();
      await nextTurn();
    }
    await refused;
    await proxy.restore();
    await expect.poll(() => mongo.db.command({ ping: 1 }).catch(() => null)).toBeTruthy();
  }

  await expect.poll(() => open.size).toBe(0);
  expect(answered).toBeGreaterThan(ROUNDS);
});
