import type { FastifyRequest } from 'fastify';

/** Whether the client accepts HTML. Browsers do if they open a page; scripts and plugins mostly do not. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
