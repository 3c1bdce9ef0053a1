import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/** How many unanswered requests a connection may have. Usual clients have fewer. */
const MOST_AHEAD = 32;

/** The unanswered requests of a connection, each with its response. */
type UnderWay = Map<IncomingMessage, ServerResponse>;

const unanswered = new WeakMap<Socket, UnderWay>();
const tooMany = new WeakSet<IncomingMessage>();

/**
 * Limits the memory that pipelined requests of a connection use. If more than `MOST_AHEAD` are unanswered, the next one
 * is refused and the connection is closed. Node alone would read on and keep every answer in memory.
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
  // This runs before Fastify's handler, so that a request is counted before Fastify begins with it.
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

/** Waits until each complete request of a connection is answered, or until its answer cannot be sent any more. */
export async function answersSent(socket: Socket): Promise<void> {
  const whole = [...(unanswered.get(socket) ?? [])].filter(([request]) => request.complete);
  await Promise.all(
    whole.map(([, response]) => new Promise((resolve) => response.once('close', () => resolve(undefined)))),
  );
}
