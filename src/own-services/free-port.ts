import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { ServiceError } from './service-error.ts';

/**
 * Operating systems use ports from 32768 upwards for outgoing connections and for port 0, so a lower port stays free
 * while its service is stopped. The range ends below the usual ports of game servers and MongoDB (25565, 27015, 27017),
 * which look free while such a server is stopped.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 5_000;

/** Each process begins at a random port, so that two processes rarely choose the same one. */
let next = randomInt(PORT_COUNT);

export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORT_COUNT; tried += 1) {
    const port = FIRST_PORT + next;
    next = (next + 1) % PORT_COUNT;
    if ((await listenErrorOf('127.0.0.1', port)) === null) return port;
  }
  throw new ServiceError('No free port was found on 127.0.0.1');
}

/** The error code of listening there, such as EADDRINUSE; null if it works. */
export async function listenErrorOf(host: string, port: number): Promise<string | null> {
  const server = createServer();
  const error = await new Promise<string | null>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(null));
  });
  await new Promise((resolve) => server.close(resolve));
  return error;
}
