import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

const MOST_AHEAD = 32;

/** How many requests of all connections of a process may wait for an earlier request of their connection. */
const MOST_WAITING = 2_000;

/**
 * `underWay`: the unanswered requests. `waiting`: functions that begin the next requests. `ahead`: how many wait.
 * `isRefused`: a request was malformed or too slow, so only complete requests are still begun.
 */
type Connection = {
  underWay: Map<IncomingMessage, ServerResponse>;
  waiting: (() => void)[];
  ahead: number;
  isRefused: boolean;
};

const connections = new WeakMap<Socket, Connection>();
const tooMany = new WeakSet<IncomingMessage>();

/**
 * Begins a pipelined request when the answer before it is sent, and refuses too many. A client that sends 60 requests on
 * each of 100 connections and reads nothing is the case that needs this: Node begins all 6,000 at once and keeps their
 * answers in memory. Of Node's options only `maxRequestsPerSocket: 1` prevents that, and it ends keep-alive.
 */
export function boundPipelining(app: FastifyInstance, mostWaiting = MOST_WAITING): void {
  queueRequests(app.server, mostWaiting);
  app.addHook('onRequest', (request, reply, done) => {
    if (!tooMany.has(request.raw)) return done();
    reply.header('connection', 'close');
    throw new RefusedError(unavailable('overloaded', SENTENCES.ahead));
  });
}

function queueRequests(server: Server, mostWaiting: number): void {
  // Node has no event before `request`, so the existing listeners (also Fastify's) are called from here.
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  let ahead = 0;
  const open = (socket: Socket): Connection => {
    const connection: Connection = { underWay: new Map(), waiting: [], ahead: 0, isRefused: false };
    connections.set(socket, connection);
    socket.once('close', () => {
      ahead -= connection.ahead;
      connection.waiting = [];
    });
    return connection;
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // Node still parses what it has read from a closed connection.
    if (socket.destroyed) return;
    const connection = connections.get(socket) ?? open(socket);
    const { underWay } = connection;
    const isFirst = underWay.size === 0;
    if (!isFirst) {
      if (ahead >= mostWaiting) return void socket.destroy();
      ahead += 1;
      connection.ahead += 1;
    }
    // An earlier request is refused, and the connection is closed after that answer. So this request is ignored.
    if (underWay.size > MOST_AHEAD) return;
    underWay.set(request, response);
    response.once('close', () => {
      underWay.delete(request);
      // If the client has disconnected: the next request is not begun, because nobody would get its answer.
      if (!socket.destroyed) connection.waiting.shift()?.();
    });
    if (isFirst) return handle(request, response);
    if (underWay.size > MOST_AHEAD) {
      tooMany.add(request);
      socket.pause();
    }
    const begin = () => {
      ahead -= 1;
      connection.ahead -= 1;
      // If the rest of this request was discarded: the client got a refusal, so the request must have no effect.
      if (connection.isRefused && !request.complete) return;
      handle(request, response);
    };
    // The end of the previous request calls `begin`, which must not run in that request's context (language, span).
    connection.waiting.push(AsyncResource.bind(begin));
  });
}

/** Waits until each complete request of a refused connection is answered. Incomplete ones are not begun any more. */
export async function lastAnswersSent(socket: Socket): Promise<void> {
  const connection = connections.get(socket);
  if (!connection) return;
  connection.isRefused = true;
  const whole = [...connection.underWay].filter(([request]) => request.complete);
  await Promise.all(
    whole.map(([, response]) => new Promise((resolve) => response.once('close', () => resolve(undefined)))),
  );
}
