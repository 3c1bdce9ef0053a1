import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/** Running requests are answered within 5 s, so a connection that is still open after 8 s has no complete request. */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

/** Closes the port and idle connections, and waits for running requests. After 8 s, closes all other connections. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
