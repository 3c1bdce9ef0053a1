import type { FastifyRequest } from 'fastify';

/**
 * Whether a page of this site sent the request (protection against CSRF). Browsers send cookies with requests of other
 * sites too, and Bull Board has no check of its own.
 *
 * If there is an `Origin`, it must be that of `publicUrl` or the address that the browser used. Without an `Origin`,
 * the browser must send `Sec-Fetch-Site: same-origin`. A page of another site can forge neither header.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
