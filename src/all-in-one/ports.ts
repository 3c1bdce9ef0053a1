import { setTimeout as pause } from 'node:timers/promises';
import { listenErrorOf } from '../own-services/free-port.ts';
import { ServiceError } from '../own-services/service-error.ts';
import { SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';

/** How long a port in use is tried again: if `npm start` was killed, its child processes close their ports later. */
const TIMEOUT_MS = 2 * SECOND;

/**
 * Checks that PORT and the metrics ports are free. Returns the metrics ports of web, worker and scheduler: METRICS_PORT
 * and the two after it. If METRICS_PORT is 0, all three are 0.
 *
 * @throws {ServiceError} when a port is taken or cannot be opened: one sentence with the variable to set.
 */
export async function requirePortsFree(config: Config): Promise<number[]> {
  const { HOST, PORT, METRICS_HOST, METRICS_PORT } = config;
  if (METRICS_PORT > 65_533) {
    throw new ServiceError(
      `METRICS_PORT is ${METRICS_PORT}, and the worker and the scheduler take the two ports after it: choose 65533 or less.`,
    );
  }
  await requireFree('HOST', HOST, PORT, `set PORT to another number, such as ${PORT + 1}`);
  if (METRICS_PORT === 0) return [0, 0, 0];
  const ports = [METRICS_PORT, METRICS_PORT + 1, METRICS_PORT + 2];
  for (const port of ports) {
    await requireFree(
      'METRICS_HOST',
      METRICS_HOST,
      port,
      'set METRICS_PORT to another number, or to 0 for any free ports',
    );
  }
  return ports;
}

async function requireFree(variable: string, host: string, port: number, remedy: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const error = await listenErrorOf(host, port);
    if (!error) return;
    if (error === 'EACCES')
      throw new ServiceError(`Port ${port} on ${host} may not be listened on (${error}): ${remedy}.`);
    if (error !== 'EADDRINUSE')
      throw new ServiceError(
        `${host} is no address of this machine that can be listened on (${error}): set ${variable} to one that is, such as 127.0.0.1.`,
      );
    if (Date.now() > deadline)
      throw new ServiceError(`Port ${port} on ${host} is already in use: ${remedy}.`);
    await pause(100);
  }
}
