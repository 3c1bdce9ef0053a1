import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/** More requests than this, sent ahead of their answers on one connection, are no client's habit. */
const MOST_AHEAD = 32;

/** Connections of one process; each costs memory, also an idle one. */
const MOST_CONNECTIONS = 10_000;

/** What one connection has asked and was not answered yet. */
type UnderWay = Map<IncomingMessage, ServerResponse>;

const asked = new WeakMap<Socket, UnderWay>();
const tooMany = new WeakSet<IncomingMessage>();

/**
 * Bounds what one connection can make us hold: of a client that sends many requests ahead of their answers the first
 * ones are answered, the next is refused, and then the connection is closed. Node reads on as long as requests come,
 * and keeps every answer in memory.
 */
export function boundConnections(app: FastifyInstance): void {
  const { server } = app;
  server.maxConnections = MOST_CONNECTIONS;
  watchConnections(server);
  app.addHook('onRequest', (request, reply, done) => {
    if (!tooMany.has(request.raw)) return done();
    reply.header('connection', 'close');
    throw new RefusedError(unavailable(SENTENCES.ahead));
  });
}

function watchConnections(server: Server): void {
  // Before Fastify hears of it, and in the order of the connection: of many that arrive at once, all those before this
  // one count.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const underWay: UnderWay = asked.get(socket) ?? new Map();
    asked.set(socket, underWay.set(request, response));
    response.once('close', () => underWay.delete(request));
    if (underWay.size <= MOST_AHEAD) return;
    tooMany.add(request);
    socket.pause();
  });
}

/** Waits until all that was asked in full on a connection has been answered, or cannot be any more. */
export async function answersSent(socket: Socket): Promise<void> {
  const whole = [...(asked.get(socket) ?? [])].filter(([request]) => request.complete);
  await Promise.all(
    whole.map(([, response]) => new Promise((resolve) => response.once('close', () => resolve(undefined)))),
  );
}
