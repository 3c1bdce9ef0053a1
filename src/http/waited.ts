import type { FastifyRequest } from 'fastify';

/** Milliseconds that each request has waited on purpose, such as a take that waits for a vote. */
const waited = new WeakMap<FastifyRequest, number>();

/** Notes how long a request waited on purpose. Metrics subtract this time from the request's duration. */
export function noteWait(request: FastifyRequest, ms: number): void {
  waited.set(request, ms);
}

/** How long a request waited on purpose, in milliseconds. */
export function waitedMs(request: FastifyRequest): number {
  return waited.get(request) ?? 0;
}
