import type { FastifyRequest } from 'fastify';

/** Browsers accept HTML when they open a page; scripts and plugins mostly do not. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
