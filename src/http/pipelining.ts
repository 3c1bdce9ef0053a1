import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/** How many unanswered requests one connection may have. Usual clients send fewer. */
const MOST_AHEAD = 32;

/** The unanswered requests of one connection. */
type UnderWay = Map<IncomingMessage, ServerResponse>;

const unanswered = new WeakMap<Socket, UnderWay>();
const tooMany = new WeakSet<IncomingMessage>();

/**
 * Limits the memory that pipelined requests of one connection use: the first `MOST_AHEAD` are answered, the next one is
 * refused, and then the connection is closed. Node alone would read on and keep every answer in memory.
 */
export function boundPipelining(app: FastifyInstance): void {
  watchRequests(app.server);
  app.addHook('onRequest', (request, reply, done) => {
    if (!tooMany.has(request.raw)) return done();
    reply.header('connection', 'close');
    throw new RefusedError(unavailable('overloaded', SENTENCES.ahead));
  });
}

function watchRequests(server: Server): void {
  // Runs before Fastify's handler and in the order of the requests, so that all earlier requests are counted.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const underWay: UnderWay = unanswered.get(socket) ?? new Map();
    unanswered.set(socket, underWay.set(request, response));
    response.once('close', () => underWay.delete(request));
    if (underWay.size <= MOST_AHEAD) return;
    tooMany.add(request);
    socket.pause();
  });
}

/** Waits until each complete request of a connection is answered, or its answer can no longer be sent. */
export async function answersSent(socket: Socket): Promise<void> {
  const whole = [...(unanswered.get(socket) ?? [])].filter(([request]) => request.complete);
  await Promise.all(
    whole.map(([, response]) => new Promise((resolve) => response.once('close', () => resolve(undefined)))),
  );
}
