import type { FastifyRequest } from 'fastify';

/** Whether a browser asks for a page to show, rather than a script for data. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
