import { once } from 'node:events';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { explainRedisError, openRedis } from '../../platform/redis.ts';
import { type Findings, readRedis } from '../../process/redis-findings.ts';
import { sentence } from '../output-format.ts';
import { failed } from './findings.ts';

/** How long the check waits for a connection, and then for the answers. */
const CONNECT_TIMEOUT_MS = 5 * SECOND;

/** Checks the version, eviction, persistence, and whether the URL fits a Redis Cluster. */
export async function checkRedis(url: string, log: Logger): Promise<Findings> {
  const connection = openRedis(url, log);
  try {
    await once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return await within(CONNECT_TIMEOUT_MS, readRedis(connection));
  } catch (error) {
    return failed(sentence(`Redis does not answer: ${reasonOf(await errorOfNode(url, error, log), url)}`));
  } finally {
    connection.disconnect();
  }
}

/** For a Cluster: the error of its first node. The library hides why the nodes refuse it, such as their certificates. */
async function errorOfNode(url: string, error: unknown, log: Logger): Promise<unknown> {
  if (!url.includes('+cluster:')) return error;
  // A password may contain commas.
  const first = url.replace('+cluster', '').replace(/,[^@/?]*(?=[/?]|$)/, '');
  const node = openRedis(first, log);
  try {
    await once(node, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return error;
  } catch (ofNode) {
    return ofNode;
  } finally {
    node.disconnect();
  }
}

function reasonOf(error: unknown, url: string): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') {
    return `no connection within ${CONNECT_TIMEOUT_MS / SECOND} seconds${hintOf(url)}`;
  }
  return explainRedisError(error);
}

/** What may be wrong if nothing answers, and nothing is refused. */
function hintOf(url: string): string {
  if (url.includes('+cluster:'))
    return '; the addresses that its nodes announce may lead nowhere from here, or not be in their certificates: set cluster-announce-ip or cluster-announce-hostname';
  // A server without TLS waits for the end of what it takes for a command.
  return url.startsWith('rediss') ? '; it may not use TLS: begin REDIS_URL with redis, not rediss' : '';
}
