import { AsyncLocalStorage } from 'node:async_hooks';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyReply } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answerClientErrors } from '../../src/http/connection-errors.ts';
import { boundPipelining } from '../../src/http/pipelining.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A server whose requests wait until they are answered; `begun`: the paths in the order in which they began. */
async function serve(mostWaiting?: number) {
  const app = Fastify({ clientErrorHandler: answerClientErrors() });
  boundPipelining(app, mostWaiting);
  const begun: string[] = [];
  const replies = new Map<string, FastifyReply>();
  app.get('/*', (request, reply) => {
    begun.push(request.url);
    replies.set(request.url, reply);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => {
    app.server.closeAllConnections();
    return app.close();
  });
  const { port } = app.server.address() as AddressInfo;
  return {
    begun,
    answer: (path: string) => void replies.get(path)?.send(path),
    connections: () => new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count))),
    async open(): Promise<{ socket: Socket; text: () => string }> {
      let text = '';
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await new Promise((resolve) => socket.once('connect', resolve));
      return { socket, text: () => text };
    },
  };
}

const begunAre = (server: { begun: string[] }, paths: string[]) =>
  vi.waitFor(() => expect(server.begun).toEqual(paths), EVENTUALLY);

test('a pipelined request begins when the one before it is answered, and other connections do not wait', async () => {
  const server = await serve();
  const { socket, text } = await server.open();
  socket.write(GET('/1') + GET('/2') + GET('/3'));
  await begunAre(server, ['/1']);
  const other = await server.open();
  other.socket.write(GET('/other'));
  await begunAre(server, ['/1', '/other']);
  server.answer('/1');
  await begunAre(server, ['/1', '/other', '/2']);
  server.answer('/2');
  await begunAre(server, ['/1', '/other', '/2', '/3']);
  server.answer('/3');
  await vi.waitFor(() => expect(text()).toMatch(/\/1HTTP.*\/2HTTP.*\/3$/s), EVENTUALLY);
});

test('an incomplete request that waits for the one before it is refused and not begun', async () => {
  const server = await serve();
  const { socket, text } = await server.open();
  socket.write(`${GET('/1')}GET /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n`);
  await begunAre(server, ['/1']);
  server.answer('/1');
  await vi.waitFor(() => expect(text()).toMatch(/200 OK.*\/1HTTP\/1\.1 400 /s), EVENTUALLY);
  expect(server.begun).toEqual(['/1']);
});

test('a pipelined request does not run in the context of the one before it', async () => {
  const context = new AsyncLocalStorage<string>();
  const app = Fastify();
  boundPipelining(app);
  const seen: [url: string, before: string | undefined][] = [];
  app.addHook('onRequest', (request, _reply, done) => {
    seen.push([request.url, context.getStore()]);
    context.run(request.url, done);
  });
  app.get('/*', async () => 'ok');
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const socket = connect({ port: (app.server.address() as AddressInfo).port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.write(GET('/1') + GET('/2') + GET('/3'));
  await vi.waitFor(() => expect(seen).toHaveLength(3), EVENTUALLY);
  expect(seen).toEqual([
    ['/1', undefined],
    ['/2', undefined],
    ['/3', undefined],
  ]);
});

test('a request behind an unanswered one is never begun if the client has gone', async () => {
  const server = await serve();
  const { socket } = await server.open();
  socket.write(GET('/1') + GET('/2'));
  await begunAre(server, ['/1']);
  socket.destroy();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0), EVENTUALLY);
  server.answer('/1');
  const other = await server.open();
  other.socket.write(GET('/other'));
  await begunAre(server, ['/1', '/other']);
});

test('if too many requests of the process wait, the connection that sends one more is closed; room comes back', async () => {
  const server = await serve(3);
  const first = await server.open();
  first.socket.write(GET('/1') + GET('/2') + GET('/3') + GET('/4'));
  await begunAre(server, ['/1']);
  const second = await server.open();
  second.socket.write(GET('/a') + GET('/b'));
  await vi.waitFor(() => expect(second.socket.destroyed).toBe(true), EVENTUALLY);
  first.socket.destroy();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0), EVENTUALLY);
  const third = await server.open();
  third.socket.write(GET('/5') + GET('/6'));
  await begunAre(server, server.begun.includes('/a') ? ['/1', '/a', '/5'] : ['/1', '/5']);
  server.answer('/5');
  await vi.waitFor(() => expect(server.begun.at(-1)).toBe('/6'), EVENTUALLY);
});
