import type { FastifyInstance } from 'fastify';
import { SECOND } from '../platform/clock.ts';

/** Most requests are answered within 5 s. What is left then mostly waits for a client or a remote peer. */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
