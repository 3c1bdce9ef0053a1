import type { FastifyRequest } from 'fastify';
import { within } from '../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';

const spent = new WeakMap<FastifyRequest, number>();

/** How much is left of the 5 s that a request may wait for the database; 0 or less if nothing is left. */
export function databaseTimeLeft(request: FastifyRequest): number {
  return OPERATION_TIMEOUT_MS - (spent.get(request) ?? 0);
}

/**
 * A request may wait 5 s for the database in total, without the time in which its body arrives. After that, `work` is
 * not cancelled.
 * @throws {DeadlineError} if the time is over before `work` ends; otherwise the errors of `work`
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
