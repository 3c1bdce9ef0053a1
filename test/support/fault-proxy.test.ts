import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FaultProxy, matchText, mongoCommand, startFaultProxy } from './fault-proxy.ts';

/** A server that answers every line with the same line, except `bye`. `received` contains what it got. */
let received: string[];
let server: Server;
let proxy: FaultProxy;
beforeEach(async () => {
  received = [];
  server = createServer((socket) => {
    socket.on('data', (bytes) => {
      received.push(bytes.toString());
      if (bytes.toString() !== 'bye') socket.write(bytes);
    });
    socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startFaultProxy((server.address() as { port: number }).port, 'chunks');
});
afterEach(async () => {
  await proxy.close();
  server.close();
});

async function dial(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends a line and waits for its answer; null if the connection ends first. */
async function ask(socket: Socket, line: string): Promise<string | null> {
  const answer = Promise.race([
    once(socket, 'data').then(([bytes]) => String(bytes)),
    once(socket, 'close').then(() => null),
  ]);
  socket.write(line);
  return answer;
}

describe('one request', () => {
  test('is answered, dropped with its connection, or loses its answer, each fault once', async () => {
    const faults = [
      proxy.cutBeforeNext(matchText('BEFORE')),
      proxy.cutAfterNext(matchText('after')),
      proxy.stallNext(matchText('held'), async () => expect(received).not.toContain('held')),
    ];
    expect(await ask(await dial(), 'other')).toBe('other');
    expect(await ask(await dial(), 'before')).toBeNull();
    expect(await ask(await dial(), 'after')).toBeNull();
    expect(await ask(await dial(), 'held')).toBe('held');
    await Promise.all(faults);
    expect(received).toEqual(['other', 'after', 'held']);
    expect(await ask(await dial(), 'before')).toBe('before');
    expect(await ask(await dial(), 'after')).toBe('after');
  });

  test('loses an answer that never comes, because both sides closed the connection', async () => {
    const cut = proxy.cutAfterNext(matchText('bye'));
    (await dial()).end('bye');
    await cut;
  });

  test('waits while the fault’s callback runs, and an error of the callback reaches the test', async () => {
    const order: string[] = [];
    const cut = proxy.cutAfterNext(matchText('line'), async () => {
      expect(await ask(await dial(), 'meanwhile')).toBe('meanwhile');
      order.push('worked');
      throw new Error('in the test');
    });
    expect(await ask(await dial(), 'line')).toBeNull();
    order.push('cut');
    await expect(cut).rejects.toThrow('in the test');
    expect(order).toEqual(['worked', 'cut']);
  });

  test('is forwarded once its fault is removed', async () => {
    const cut = proxy.cutBeforeNext(() => true);
    proxy.forget();
    await expect(cut).rejects.toThrow();
    expect(await ask(await dial(), 'hello')).toBe('hello');
  });

  test('that never arrived is a failure at the end', async () => {
    const cut = proxy.cutAfterNext(matchText('never'));
    await proxy.close();
    await expect(cut).rejects.toThrow('no request met this fault');
  });
});

describe('the line', () => {
  test('that is restored twice concurrently listens again', async () => {
    await proxy.refuse();
    await Promise.all([proxy.restore(), proxy.restore()]);
    expect(await ask(await dial(), 'hello')).toBe('hello');
  });

  test('refuses and closes connections until it is restored', async () => {
    const socket = await dial();
    const closed = once(socket, 'close');
    await proxy.refuse();
    await closed;
    await expect(dial()).rejects.toThrow('ECONNREFUSED');
    await proxy.restore();
    expect(await ask(await dial(), 'again')).toBe('again');
  });

  test('does not forward data, on old and new connections, until it is restored', async () => {
    const before = await dial();
    proxy.hang();
    const answers = [ask(before, 'one'), ask(await dial(), 'two')];
    // A request that does not use the proxy is answered. The earlier request through the proxy has not arrived.
    const past = connect((server.address() as { port: number }).port, '127.0.0.1');
    expect(await ask(past, 'past')).toBe('past');
    past.destroy();
    expect(received).toEqual(['past']);
    await proxy.restore();
    expect(await Promise.all(answers)).toEqual(['one', 'two']);
  });

  test('delays each request', async () => {
    const delayed = await dial();
    proxy.delay(40);
    const answers: (string | null)[] = [];
    const late = ask(delayed, 'late').then((answer) => answers.push(answer));
    // A request that does not use the proxy is answered earlier.
    const past = connect((server.address() as { port: number }).port, '127.0.0.1');
    answers.push(await ask(past, 'past'));
    past.destroy();
    await late;
    expect(answers).toEqual(['past', 'late']);
  });

  test('replaces the port of an address by its own', () => {
    expect(proxy.through('mongodb://127.0.0.1:27017/name')).toBe(`mongodb://127.0.0.1:${proxy.port}/name`);
  });
});

test('a MongoDB message is one request, however its bytes arrive', async () => {
  const command = Buffer.from('\x02insert\0\x06\0\0\0votes\0 name', 'latin1');
  const message = Buffer.concat([Buffer.alloc(16), command]);
  message.writeInt32LE(message.length);
  const strict = await startFaultProxy((server.address() as { port: number }).port, 'mongodb');
  const socket = connect(strict.port, '127.0.0.1').setNoDelay(true);
  const seen: number[] = [];
  const see = (request: Buffer) => {
    seen.push(request.length);
    return false;
  };
  void strict.cutBeforeNext(see).catch(() => undefined);
  for (const byte of Buffer.concat([message, message])) socket.write(Buffer.from([byte]));
  await expect.poll(() => seen).toEqual([message.length, message.length]);
  socket.destroy();
  await strict.close();

  expect(mongoCommand('insert', 'votes')(message)).toBe(true);
  expect(mongoCommand('insert', 'votes', 'name')(message)).toBe(true);
  expect(mongoCommand('insert', 'votes', 'other')(message)).toBe(false);
  expect(mongoCommand('insert', 'vote')(message)).toBe(false);
  expect(mongoCommand('find', 'votes')(message)).toBe(false);
});
