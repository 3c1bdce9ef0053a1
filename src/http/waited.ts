import type { FastifyRequest } from 'fastify';

/** How many milliseconds a request has waited on purpose. For example, a take waits for a vote. */
const waited = new WeakMap<FastifyRequest, number>();

/** Stores how long a request waited on purpose. The metrics subtract this time from the duration of the request. */
export function noteWait(request: FastifyRequest, ms: number): void {
  waited.set(request, ms);
}

/** How long a request waited on purpose, in milliseconds. */
export function waitedMs(request: FastifyRequest): number {
  return waited.get(request) ?? 0;
}
