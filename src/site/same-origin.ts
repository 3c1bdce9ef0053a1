import type { FastifyRequest } from 'fastify';

/**
 * Another site may forge a request (CSRF): browsers send cookies with it too. At least one of two headers, which other
 * sites cannot forge, is required, and neither may be wrong: `Sec-Fetch-Site` must be `same-origin`; `Origin` must be
 * that of `publicUrl` or of the address that the browser used. `Origin: null` (`NO_REFERRER`) says nothing.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined || origin === 'null') return site === 'same-origin';
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}

export const NO_REFERRER =
  'A proxy in front of the site sets Referrer-Policy: no-referrer. Browsers then send “Origin: null” with forms, so those that send no Sec-Fetch-Site (Safari before 16.4, and all at a site with http://) cannot vote or sign in. Remove the header from the proxy: the site sets Referrer-Policy: same-origin itself.';

/** Of several policies, which a second header of a proxy makes, the last one applies. */
export function sendsNoReferrer(referrerPolicy: string | null): boolean {
  return referrerPolicy?.split(',').at(-1)?.trim().toLowerCase() === 'no-referrer';
}
