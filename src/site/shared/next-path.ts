import type { FastifyInstance } from 'fastify';

const NOWHERE = 'http://nowhere.invalid';

/**
 * `next` if it is a path under `base` (`''` or `/listing`). Others, such as `//elsewhere` or `/\elsewhere`, would
 * redirect users to another site.
 */
export function nextPath(next: unknown, base: string, otherwise: string): string {
  const url = typeof next === 'string' && next !== '' ? URL.parse(next, NOWHERE) : null;
  if (!url || url.origin !== NOWHERE) return otherwise;
  const isInside = base === '' || url.pathname === base || url.pathname.startsWith(`${base}/`);
  // `/.//elsewhere` resolves to the path `//elsewhere`, which a browser would read as another host.
  return isInside && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : otherwise;
}

/** If the path only takes forms, GET would fail. */
export function nextPage(app: FastifyInstance, next: unknown, otherwise: string): string {
  const path = nextPath(next, app.site.base, otherwise);
  return app.refusesGet(path.split('?')[0] ?? '') ? otherwise : path;
}
