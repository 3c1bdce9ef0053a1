/** Characters that turn the direction of the text that follows them, also of the name of a site. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * The address of a link in a text of a user. Its `href` and `host` are ASCII, as a browser reads them, so that they may be
 * shown: a name such as `bаnk.example` with a Cyrillic letter becomes `xn--bnk-6cd.example`.
 *
 * @returns null if it is no link: another scheme, no host, a user name (`https://bank.example@evil.example`), a backslash,
 *   blanks or invisible characters
 */
export function writtenLink(text: string): URL | null {
  if (!/^https?:\/\/[^/?#]/i.test(text) || /[\s\p{C}\\]/u.test(text)) return null;
  const url = URL.parse(text);
  return url && !url.username && !url.password ? url : null;
}

/** A text of a user without the characters that change its direction. Pages set `dir="auto"` instead. */
export function withoutDirections(text: string): string {
  return text.replace(DIRECTIONS, '');
}
