import type { FastifyRequest } from 'fastify';
import { within } from '../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';

/** How many milliseconds each request has waited for the database. */
const spent = new WeakMap<FastifyRequest, number>();

/** How many milliseconds `request` may still wait for the database, of 5 s in all; 0 or less when none are left. */
export function databaseTimeLeft(request: FastifyRequest): number {
  return OPERATION_TIMEOUT_MS - (spent.get(request) ?? 0);
}

/**
 * Waits for `work`, at most until the request has waited for the database for 5 s in all. The time in which the body
 * arrives is not counted. `work` itself is not cancelled.
 *
 * @throws {DeadlineError} when the time is used up, or what `work` throws
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
