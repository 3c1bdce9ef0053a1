import type { FastifyRequest } from 'fastify';

/** Milliseconds for which a request waited on purpose, such as a take for a vote. The metrics subtract them. */
const waited = new WeakMap<FastifyRequest, number>();

export function noteWait(request: FastifyRequest, ms: number): void {
  waited.set(request, ms);
}

export function waitedMs(request: FastifyRequest): number {
  return waited.get(request) ?? 0;
}
