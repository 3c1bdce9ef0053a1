import type { FastifyRequest } from 'fastify';
import { within } from '../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';

/** How many milliseconds each request has waited for the database. */
const spent = new WeakMap<FastifyRequest, number>();

/** How many milliseconds are left of the 5 s that `request` may wait for the database; 0 or less if none are left. */
export function databaseTimeLeft(request: FastifyRequest): number {
  return OPERATION_TIMEOUT_MS - (spent.get(request) ?? 0);
}

/**
 * Waits for `work`, which uses the database. A request may wait 5 s for the database in total; the time in which its
 * body arrives does not count. If the 5 s are over, `work` is not cancelled.
 *
 * @throws {DeadlineError} if the request has waited 5 s in total before `work` ends; otherwise the errors of `work`
 */
export async function withinDatabaseTime<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  const left = databaseTimeLeft(request);
  const start = performance.now();
  try {
    return await within(left, work);
  } finally {
    spent.set(request, OPERATION_TIMEOUT_MS - left + performance.now() - start);
  }
}
