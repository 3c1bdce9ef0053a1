/** Any host: only the path of what is resolved against it is used. */
const NOWHERE = 'http://nowhere.invalid';

/**
 * Where to go after signing in: `next` if it is a path under `base` (`''` or `/listing`), else `otherwise`.
 * Anything else, such as `//elsewhere` or `/\\elsewhere`, would lead a user to a page of a stranger's choosing.
 */
export function nextPath(next: unknown, base: string, otherwise: string): string {
  const url = typeof next === 'string' && next !== '' ? URL.parse(next, NOWHERE) : null;
  if (!url || url.origin !== NOWHERE) return otherwise;
  const isInside = base === '' || url.pathname === base || url.pathname.startsWith(`${base}/`);
  // `/.//elsewhere` resolves to the path `//elsewhere`, which a browser takes for another host.
  return isInside && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : otherwise;
}
