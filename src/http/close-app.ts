import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/**
 * Connections that are still open after this time are closed. Running requests are answered within 5 s, so the client
 * of such a connection sends nothing.
 */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

/**
 * Closes the port and idle connections and waits for running requests. Connections that are left after 8 s are closed.
 */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
