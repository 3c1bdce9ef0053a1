import type { FastifyRequest } from 'fastify';

/**
 * Whether a page of this site caused the request. If another site caused it, it may be forged (CSRF): browsers send
 * cookies with such requests too. At least one of two headers, which other sites cannot forge, is required, and neither
 * may be wrong: `Sec-Fetch-Site` must be `same-origin`; `Origin` must be that of `publicUrl` or of the address that the
 * browser used. If a proxy adds `Referrer-Policy: no-referrer`: browsers send `Origin: null`, which says nothing.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined || origin === 'null') return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
