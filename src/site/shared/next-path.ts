/** A placeholder host; only the path of a resolved URL is used. */
const NOWHERE = 'http://nowhere.invalid';

/**
 * Where to go after signing in: `next` if it is a path under `base` (`''` or `/listing`), else `otherwise`.
 * Other values, such as `//elsewhere` or `/\\elsewhere`, would redirect users to another site.
 */
export function nextPath(next: unknown, base: string, otherwise: string): string {
  const url = typeof next === 'string' && next !== '' ? URL.parse(next, NOWHERE) : null;
  if (!url || url.origin !== NOWHERE) return otherwise;
  const isInside = base === '' || url.pathname === base || url.pathname.startsWith(`${base}/`);
  // `/.//elsewhere` resolves to the path `//elsewhere`, which a browser reads as another host.
  return isInside && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : otherwise;
}
