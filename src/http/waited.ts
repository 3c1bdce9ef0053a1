import type { FastifyRequest } from 'fastify';

/** Milliseconds that each request has waited for something to happen. */
const waited = new WeakMap<FastifyRequest, number>();

/** Notes how long a request waited on purpose: the time is not a part of its duration in metrics. */
export function noteWait(request: FastifyRequest, ms: number): void {
  waited.set(request, ms);
}

/** How long a request waited on purpose, in milliseconds. */
export function waitedMs(request: FastifyRequest): number {
  return waited.get(request) ?? 0;
}
