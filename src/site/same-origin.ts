import type { FastifyRequest } from 'fastify';

/**
 * Whether a page of this site caused the request. If another site caused it, it may be forged (CSRF): browsers send
 * cookies with such requests too. Bull Board has no check of its own.
 *
 * If there is an `Origin`, it must be the origin of `publicUrl` or of the address that the browser used. If there is
 * none, the browser must send `Sec-Fetch-Site: same-origin`. A page of another site can forge neither header.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
