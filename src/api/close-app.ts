import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/** Requests under way have their answer within 5 s; what is still open after this is a client that waits. */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

/** Closes the port and idle connections, waits for the requests under way, and ends the rest. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const tooLong = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(tooLong);
}
