import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/**
 * Most requests are answered within 5 s. A connection that is still open after 8 s usually has no complete request, a
 * client that does not read its answer, or a request that waits for a remote peer.
 */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

/** Closes the port and idle connections, and waits for running requests. After 8 s, closes all other connections. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
