import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
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

/** The parts of the driver's own modules that this test uses. */
type Driver = {
  Connection: {
    new (
      socket: Socket,
      options: object,
    ): { command(namespace: unknown, command: object): Promise<unknown>; cleanup(error: Error): void };
  };
};
const require = createRequire(import.meta.url);
const { Connection } = require('mongodb/lib/cmap/connection.js') as Driver;
const { ns } = require('mongodb/lib/utils.js') as { ns(name: string): unknown };

/** A connection of the driver to a server that answers nothing. */
async function openConnection() {
  const server = createServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  onTestFinished(async () => {
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { socket, connection: new Connection(socket, { hostAddress: 'listing', generation: 0 }) };
}

test('an operation that waits until the socket takes more settles when its connection closes', async () => {
  const { socket, connection } = await openConnection();
  const write = vi.spyOn(socket, 'write').mockReturnValue(false);
  const operation = connection.command(ns('admin.$cmd'), { ping: 1 });
  const settled = expect(operation).rejects.toThrow('the connection is lost');
  await vi.waitUntil(() => write.mock.calls.length > 0);
  await nextTurn();
  connection.cleanup(new Error('the connection is lost'));
  await settled;
});

test('an operation settles when its connection closes before its message is written', async () => {
  const { connection } = await openConnection();
  const operation = connection.command(ns('admin.$cmd'), { ping: 1 });
  const settled = expect(operation).rejects.toThrow('error writing to socket');
  connection.cleanup(new Error('the connection is lost'));
  await settled;
});

test('a driver without the method that is replaced here is refused', async () => {
  vi.doMock('node:module', () => ({ createRequire: () => () => ({ Connection: { prototype: {} } }) }));
  onTestFinished(() => void vi.doUnmock('node:module'));
  // The query makes it a module that is not loaded yet.
  const path = '../../src/platform/mongo-closed-connections.ts?again';
  await expect(import(path)).rejects.toThrow('no Connection.cleanup');
});
