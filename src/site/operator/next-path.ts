/** Any host: only the path of what is resolved against it is used. */
const NOWHERE = 'http://nowhere.invalid';

/**
 * Where to go after signing in: `next` if it is a path under `deskPath`, else `deskPath`. Anything else, such
 * as `//elsewhere` or `/\elsewhere`, would lead a person to a page of a stranger's choosing.
 */
export function nextPath(next: unknown, deskPath: string): string {
  const url = typeof next === 'string' ? URL.parse(next, NOWHERE) : null;
  if (!url || url.origin !== NOWHERE) return deskPath;
  const isInside = url.pathname === deskPath || url.pathname.startsWith(`${deskPath}/`);
  return isInside ? `${url.pathname}${url.search}` : deskPath;
}
