import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/** The most unanswered requests on one connection; usual clients send fewer. */
const MOST_AHEAD = 32;

/** The unanswered requests of one connection. */
type UnderWay = Map<IncomingMessage, ServerResponse>;

const unanswered = new WeakMap<Socket, UnderWay>();
const tooMany = new WeakSet<IncomingMessage>();

/**
 * Limits the memory of one connection with pipelined requests: the first `MOST_AHEAD` are answered, the next one is
 * refused, and then the connection is closed. Node itself would continue to read and store every answer in memory.
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
  // Prepended to run before Fastify's handler and in the order of the connection, so that all earlier requests count.
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

/** Waits until all complete requests of a connection are answered, or can no longer be answered. */
export async function answersSent(socket: Socket): Promise<void> {
  const whole = [...(unanswered.get(socket) ?? [])].filter(([request]) => request.complete);
  await Promise.all(
    whole.map(([, response]) => new Promise((resolve) => response.once('close', () => resolve(undefined)))),
  );
}
