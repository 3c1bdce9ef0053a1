/**
 * The address of a link in a user's text. `href` and `host` are ASCII, as a browser reads them, so they are safe to
 * show: a name such as `bаnk.example` with a Cyrillic letter becomes `xn--bnk-6cd.example`.
 *
 * @returns null if it is no link: another scheme, no host, a user name (`https://bank.example@evil.example`), a
 *   backslash, spaces or invisible characters
 */
export function writtenLink(text: string): URL | null {
  if (!/^https?:\/\/[^/?#]/i.test(text) || /[\s\p{C}\\]/u.test(text)) return null;
  const url = URL.parse(text);
  return url && !url.username && !url.password ? url : null;
}
