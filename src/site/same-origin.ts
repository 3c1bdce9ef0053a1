import type { FastifyRequest } from 'fastify';

/**
 * Whether one of our own pages sent a request (protection against CSRF). Browsers send cookies with requests of other
 * sites too, and Bull Board has no check of its own.
 *
 * `Origin`, if present, must be that of `publicUrl` or the address that the browser used. Without it, the browser must
 * send `Sec-Fetch-Site: same-origin`. A page can forge neither header.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
