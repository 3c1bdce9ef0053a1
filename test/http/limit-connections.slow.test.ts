import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answerClientErrors } from '../../src/http/connection-errors.ts';
import { type ConnectionLimits, limitConnections } from '../../src/http/limit-connections.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const UNLIMITED: ConnectionLimits = {
  most: 1_000,
  perAddress: 0,
  idleMs: 60_000,
  answerMs: 60_000,
  unreadBytes: Number.POSITIVE_INFINITY,
};

type Opened = {
  /** Log lines. */
  lines: object[];
  connections(): Promise<number>;
  open(localAddress?: string): Promise<Client>;
};
type Client = { socket: Socket; text(): string; isClosed(): boolean };

/** A server with these limits that answers “ok”. */
async function serve(
  limits: Partial<ConnectionLimits>,
  {
    isProxy = () => false,
    listener = (_request, answer) => answer.end('ok'),
  }: { isProxy?: (address: string) => boolean; listener?: RequestListener } = {},
): Promise<Opened> {
  const lines: object[] = [];
  const server = createServer({ headersTimeout: 200, connectionsCheckingInterval: 50 }, listener);
  server.on('clientError', answerClientErrors());
  Object.assign(server, { httpAllowHalfOpen: true });
  const log = { warn: (line: object) => lines.push(line) };
  const stop = limitConnections(server, { limits: { ...UNLIMITED, ...limits }, isProxy, log: log as never });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    stop();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    lines,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async open(localAddress = '127.0.0.1') {
      let text = '';
      let isClosed = false;
      // It never closes its own side.
      const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('end', () => {
        isClosed = true;
      });
      socket.on('error', () => {
        isClosed = true;
      });
      socket.on('close', () => {
        isClosed = true;
      });
      onTestFinished(() => void socket.destroy());
      await new Promise((resolve) => socket.once('connect', resolve));
      return { socket, text: () => text, isClosed: () => isClosed };
    },
  };
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Sends bytes again and again until the connection is destroyed. */
function drip({ socket }: Client, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), 20);
  socket.on('close', () => clearInterval(timer));
}

test('a client that goes on sending after its 408, and never closes, is gone two seconds later', async () => {
  const { open, connections } = await serve({});
  const dripping = await Promise.all(Array.from({ length: 20 }, () => open()));
  for (const client of dripping) {
    client.socket.write('GET / HTTP/1.1\r\na: ');
    drip(client, 'x');
  }
  await vi.waitFor(() => {
    for (const client of dripping) expect(client.text()).toMatch(/^HTTP\/1\.1 408 .*"request-timeout"\}$/s);
  }, EVENTUALLY);
  await vi.waitFor(async () => expect(await connections()).toBe(0), EVENTUALLY);
});

test('a client that never reads its refusal is gone two seconds later', async () => {
  const { open, connections } = await serve({});
  const client = await open();
  client.socket.pause();
  client.socket.write('no request\r\n\r\n');
  await vi.waitFor(async () => expect(await connections()).toBe(0), EVENTUALLY);
});

test('empty lines between requests do not keep a connection', async () => {
  const { open, connections } = await serve({ idleMs: 300 });
  const client = await open();
  client.socket.write(REQUEST);
  await vi.waitFor(() => expect(client.text()).toContain('ok'), EVENTUALLY);
  drip(client, '\r\n');
  await vi.waitFor(async () => expect(await connections()).toBe(0), EVENTUALLY);
});

test('an answer that its client never reads to the end does not keep a connection', async () => {
  const listener: RequestListener = (_request, answer) => answer.end(Buffer.alloc(32 * 1_024 * 1_024));
  const { open, connections } = await serve({ answerMs: 300 }, { listener });
  const client = await open();
  client.socket.pause();
  client.socket.write(REQUEST);
  await vi.waitFor(async () => expect(await connections()).toBe(0), EVENTUALLY);
});

test('answers that nobody reads close the oldest of their connections when they use too much memory', async () => {
  const megabyte = 1_024 * 1_024;
  let answered = 0;
  const listener: RequestListener = (_request, answer) => {
    answered += 1;
    answer.end(Buffer.alloc(32 * megabyte));
  };
  const { open, connections, lines } = await serve({ unreadBytes: 80 * megabyte }, { listener });
  const clients = [await open(), await open()];
  const third = await open();
  // Two answers are within the limit, and three are not: the kernel takes a few megabytes of each.
  for (const { socket } of [...clients, third]) {
    const before = answered;
    socket.pause();
    socket.write(REQUEST);
    // The oldest answer is the first one only if no other connection overtakes it.
    await vi.waitFor(() => expect(answered).toBe(before + 1), EVENTUALLY);
  }
  await vi.waitFor(async () => expect(await connections()).toBe(2), EVENTUALLY);
  expect(lines).toEqual([expect.objectContaining({ event: 'connections.limited', by: 'unread' })]);
  clients[0]?.socket.resume();
  await vi.waitFor(() => expect(clients[0]?.isClosed()).toBe(true), EVENTUALLY);
  expect([clients[1]?.isClosed(), third.isClosed()]).toEqual([false, false]);
});

test('a connection that sends requests stays open', async () => {
  const { open } = await serve({ idleMs: 1_000, answerMs: 1_000 });
  const client = await open();
  // A time longer than both limits is the subject; on a busy machine each pause may take much longer.
  for (let n = 1; n <= 12; n += 1) {
    client.socket.write(REQUEST);
    await vi.waitFor(() => expect(client.text().match(/ok/g)).toHaveLength(n), EVENTUALLY);
    await pause(100);
  }
  expect(client.isClosed()).toBe(false);
});

test('one connection too many of an address is closed when it is opened; other addresses get theirs', async () => {
  const { open, lines } = await serve({ perAddress: 3 });
  const own = await Promise.all([open(), open(), open()]);
  const [fourth, fifth] = [await open(), await open()];
  await vi.waitFor(() => expect([fourth.isClosed(), fifth.isClosed()]).toEqual([true, true]), EVENTUALLY);
  const other = await open('127.0.0.2');
  for (const client of [...own, other]) {
    client.socket.write(REQUEST);
    await vi.waitFor(() => expect(client.text()).toContain('ok'), EVENTUALLY);
  }
  // One line a minute.
  expect(lines).toEqual([
    { event: 'connections.limited', by: 'address', closed: 1, address: '127.0.0.1', limit: 3 },
  ]);

  own[0]?.socket.destroy();
  await vi.waitFor(async () => {
    const next = await open();
    next.socket.write(REQUEST);
    await vi.waitFor(() => expect(next.text()).toContain('ok'), { timeout: 500 });
  }, EVENTUALLY);
});

test('the connections of a proxy are not limited', async () => {
  const { open } = await serve({ perAddress: 1 }, { isProxy: (address) => address === '127.0.0.1' });
  const clients = await Promise.all([open(), open(), open()]);
  for (const client of clients) {
    client.socket.write(REQUEST);
    await vi.waitFor(() => expect(client.text()).toContain('ok'), EVENTUALLY);
  }
});

test('a full process closes the connection that has been idle for longest, and none with a request', async () => {
  let finish = () => undefined as unknown;
  const listener: RequestListener = ({ url }, answer) => {
    if (url === '/slow') finish = () => answer.end('ok');
    else answer.end('ok');
  };
  const { open, lines } = await serve({ most: 3 }, { listener });
  const busy = await open();
  busy.socket.write(REQUEST.replace('/', '/slow'));
  const silent = await open();
  const used = await open();
  used.socket.write(REQUEST);
  await vi.waitFor(() => expect(used.text()).toContain('ok'), EVENTUALLY);

  const visitor = await open();
  visitor.socket.write(REQUEST);
  await vi.waitFor(() => expect(visitor.text()).toContain('ok'), EVENTUALLY);
  await vi.waitFor(() => expect(silent.isClosed()).toBe(true), EVENTUALLY);
  expect([busy.isClosed(), used.isClosed()]).toEqual([false, false]);
  expect(lines).toEqual([{ event: 'connections.limited', by: 'process', closed: 1, limit: 3 }]);
  finish();
  await vi.waitFor(() => expect(busy.text()).toContain('ok'), EVENTUALLY);
});

test('a connection whose body does not arrive counts as idle', async () => {
  const { open } = await serve(
    { most: 2 },
    { listener: (request, answer) => request.resume().on('end', () => answer.end('ok')) },
  );
  const dripping = await open();
  dripping.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1');
  const used = await open();
  used.socket.write(REQUEST);
  await vi.waitFor(() => expect(used.text()).toContain('ok'), EVENTUALLY);
  const visitor = await open();
  visitor.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1');
  await vi.waitFor(() => expect(visitor.text()).toContain('ok'), EVENTUALLY);
  await vi.waitFor(() => expect(dripping.isClosed()).toBe(true), EVENTUALLY);
  expect(used.isClosed()).toBe(false);
});
