import type { FastifyInstance } from 'fastify';
import { missingUniqueIndexes } from '../database/indexes.ts';
import { hasUnfinishedRestore, RESTORE_UNFINISHED } from '../database/unfinished-restore.ts';
import type { ErrorCode } from '../http/error-codes.ts';
import { RETRY_AFTER_SECONDS } from '../http/http-errors.ts';
import { cachedFor } from '../platform/batching/cached-for.ts';
import { SECOND } from '../platform/clock.ts';
import { describeSkew } from '../platform/clock-skew.ts';
import { within } from '../platform/deadline.ts';
import type { AppDeps } from './app-deps.ts';
import { describeUnavailable, unavailableQueues } from './redis-queues.ts';

/** Each check is `'ok'` or a sentence that names the problem. */
export type Readiness = {
  ready: boolean;
  /** Redis is unavailable, at least for one queue. If `ready`, votes are accepted and wait in MongoDB. */
  degraded: boolean;
  /** Set when the process is stopping, whatever the result of the checks. */
  stopping?: true;
  checks: { mongodb: string; restore: string; indexes: string; clock: string; redis: string };
};

/** A check that takes longer than this counts as failed. */
const TIMEOUT_MS = 2 * SECOND;
/** The services are checked at most once in this time, because anybody can call the public port. */
const FRESH_MS = SECOND;

/** The beginning of a result that is unknown because another check failed; the name of that check follows. */
const NOT_KNOWN = 'not known, see ';

/** Without Redis a process is still ready, because the work is in MongoDB. Never throws. */
export async function readiness(deps: AppDeps): Promise<Readiness> {
  const [database, away] = await Promise.all([checkDatabase(deps), unavailableQueues(deps, TIMEOUT_MS)]);
  return {
    ready: Object.values(database).every((result) => result === 'ok'),
    degraded: away.length > 0,
    checks: { ...database, redis: describeUnavailable(away) || 'ok' },
  };
}

/** If mongod does not answer the ping, no further command is sent: each would block a connection that requests need. */
async function checkDatabase({
  mongo: { db },
  restores,
  clockSkew,
}: AppDeps): Promise<Omit<Readiness['checks'], 'redis'>> {
  const mongodb = await check('MongoDB does not answer', async () => {
    await db.command({ ping: 1 });
    return 'ok';
  });
  if (mongodb !== 'ok') {
    const notKnown = `${NOT_KNOWN}mongodb`;
    return { mongodb, restore: notKnown, indexes: notKnown, clock: notKnown };
  }
  const [restore, indexes, skew] = await Promise.all([
    check('MongoDB does not say whether a restore has ended', async () =>
      (await hasUnfinishedRestore({ restores })) ? RESTORE_UNFINISHED : 'ok',
    ),
    check('MongoDB does not say which indexes there are', async () =>
      describeMissing(await missingUniqueIndexes(db)),
    ),
    check('MongoDB does not say what time it has', async () => describeSkew(await clockSkew()) || 'ok'),
  ]);
  // If a restore is unfinished, missing indexes are not reported: the advice to run `tallyport migrate` would be wrong,
  // because it refuses such a database, and the restore makes the indexes itself.
  return { mongodb, restore, indexes: restore === 'ok' ? indexes : `${NOT_KNOWN}restore`, clock: skew };
}

async function check(otherwise: string, load: () => Promise<string>): Promise<string> {
  try {
    return await within(TIMEOUT_MS, load());
  } catch {
    return otherwise;
  }
}

function describeMissing(indexes: string[]): string {
  return indexes.length === 0 ? 'ok' : `missing ${indexes.join(', ')}: run \`tallyport migrate\``;
}

/** Caches the result for a second and logs each change. Once `stopping` is aborted, the process is not ready. */
export function watchReadiness(deps: AppDeps, stopping: AbortSignal): () => Promise<Readiness> {
  let last = '';
  const load = cachedFor(FRESH_MS, async () => {
    const result = await readiness(deps);
    const { ready, degraded, checks } = result;
    const now = JSON.stringify({ ready, degraded });
    if (last !== now && (last !== '' || !ready || degraded)) {
      if (ready && !degraded) deps.log.info({ event: 'process.ready' }, 'ready');
      else deps.log.warn({ event: ready ? 'process.degraded' : 'process.not_ready', checks });
    }
    last = now;
    return result;
  });
  return async () => {
    const result = await load();
    return stopping.aborted ? { ...result, ready: false, stopping: true } : result;
  };
}

/** Not part of the API, and asked by programs: an orchestrator that waits behind visitors would restart the process. */
const HIDDEN = { schema: { hide: true }, config: { isOfPrograms: true } } as const;

export async function healthRoutes(
  app: FastifyInstance,
  { readiness }: { readiness: () => Promise<Readiness> },
): Promise<void> {
  app.get('/healthz', HIDDEN, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ alive: true }),
  );
  app.get('/readyz', HIDDEN, async (_request, reply) => {
    const result = await readiness();
    reply.header('cache-control', 'no-store');
    if (result.ready) return reply.send(result);
    reply.code(503).header('retry-after', RETRY_AFTER_SECONDS);
    const code: ErrorCode = result.stopping ? 'stopping' : 'unavailable';
    return reply.send({ error: notReadySentence(result), code, ...result });
  });
}

function notReadySentence({ checks, stopping }: Readiness): string {
  if (stopping) return 'This process is stopping.';
  const { redis: _, ...needed } = checks;
  const problems = Object.values(needed).filter((result) => result !== 'ok' && !result.startsWith(NOT_KNOWN));
  return `Not ready: ${problems.join('; ')}.`;
}
