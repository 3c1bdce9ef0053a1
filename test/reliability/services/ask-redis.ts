import { Redis } from 'ioredis';
import { SECOND } from '../../../src/platform/clock.ts';

/** Sends one command to a node. Returns its answer as text; throws when there is none within a second. */
export async function ask(port: number, command: string, ...args: string[]): Promise<string> {
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: SECOND,
    commandTimeout: SECOND,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return String(await client.call(command, ...args));
  } finally {
    client.disconnect();
  }
}
