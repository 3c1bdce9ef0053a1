import type { FastifyRequest } from 'fastify';

/** Whether the client accepts HTML: a browser that opens a page, not a script. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
