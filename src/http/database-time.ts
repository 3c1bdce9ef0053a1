import type { FastifyRequest } from 'fastify';
import { within } from '../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';

/** Milliseconds that each request has spent waiting for the database. */
const spent = new WeakMap<FastifyRequest, number>();

/** Milliseconds that `request` may still wait for the database, of 5 s in all; 0 or less when they are over. */
export function databaseTimeLeft(request: FastifyRequest): number {
  return OPERATION_TIMEOUT_MS - (spent.get(request) ?? 0);
}

/**
 * Waits for `work` until the request has waited for the database for 5 s in all. The time in which its body arrives
 * does not count. `work` itself is not cancelled.
 *
 * @throws {DeadlineError} when the time is over, or what `work` throws
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
