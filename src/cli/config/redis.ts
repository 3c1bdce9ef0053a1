import { once } from 'node:events';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { explainRedisError, openRedis } from '../../platform/redis.ts';
import { type Findings, readRedis } from '../../process/redis-findings.ts';
import { sentence } from '../format.ts';
import { failed } from './findings.ts';

/** How long the check waits for a connection, and then for the answers. */
const CONNECT_TIMEOUT_MS = 5 * SECOND;

/** Checks the version, eviction, persistence, and whether the URL fits a Redis Cluster. */
export async function checkRedis(url: string, log: Logger): Promise<Findings> {
  const connection = openRedis(url, log);
  try {
    await once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return await within(CONNECT_TIMEOUT_MS, readRedis(connection, /^rediss?\+sentinel:/.test(url)));
  } catch (error) {
    return failed(sentence(`Redis does not answer: ${reasonOf(error)}`));
  } finally {
    connection.disconnect();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no connection within ${CONNECT_TIMEOUT_MS / SECOND} seconds`;
  return explainRedisError(error);
}
