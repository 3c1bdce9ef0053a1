import type { FastifyRequest } from 'fastify';

/** How many milliseconds a request has waited on purpose. For example, a take waits for a vote. */
const waited = new WeakMap<FastifyRequest, number>();

/** The metrics subtract this time from the duration of the request. */
export function noteWait(request: FastifyRequest, ms: number): void {
  waited.set(request, ms);
}

export function waitedMs(request: FastifyRequest): number {
  return waited.get(request) ?? 0;
}
