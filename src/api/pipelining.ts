import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More requests than this, sent ahead of their answers on one connection, are no client's habit. */
const MOST_AHEAD = 32;

/** Connections of one process; each costs memory, also an idle one. */
const MOST_CONNECTIONS = 10_000;

/**
 * Bounds what one connection can make us hold: a client that sends requests and reads no answer is cut off.
 * Node reads on as long as requests come, and keeps every answer in memory.
 */
export function boundConnections(server: Server): void {
  server.maxConnections = MOST_CONNECTIONS;
  const ahead = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, count);
    response.once('close', () => ahead.set(socket, (ahead.get(socket) ?? 1) - 1));
    if (count > MOST_AHEAD) socket.destroy();
  });
}
