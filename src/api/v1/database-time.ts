import type { FastifyRequest } from 'fastify';
import { within } from '../../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';

/** Milliseconds that each request has spent waiting for the database. */
const spent = new WeakMap<FastifyRequest, number>();

/**
 * `work`, given up when the request has waited for the database for 5 s in all. How long its body takes to
 * arrive is not counted. The work itself goes on unseen.
 *
 * @throws {DeadlineError} when the time is over, or what `work` throws
 */
export async function withinDatabaseTime<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  const before = spent.get(request) ?? 0;
  const start = performance.now();
  try {
    return await within(OPERATION_TIMEOUT_MS - before, work);
  } finally {
    spent.set(request, before + performance.now() - start);
  }
}
