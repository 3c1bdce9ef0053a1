import type { FastifyRequest } from 'fastify';

/**
 * Whether a request that changes something was sent by a page of ours. Bull Board checks nothing itself, and a
 * cookie goes along whoever made the browser send it.
 *
 * `Origin`, where there is one, must be `publicUrl`'s or the address the browser itself used; without it the
 * browser must say `Sec-Fetch-Site: same-origin`. A page can forge neither.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
