import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/** Running requests are answered within 5 s; a connection that is still open afterwards belongs to an idle client. */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

/** Closes the port and idle connections, waits for running requests, and closes connections that are left after 8 s. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
