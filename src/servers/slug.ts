/** The longest slug before a number is added. */
const LONGEST = 60;

/** Latin letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
};

/**
 * A server's name for use in a URL: `Crème de la Craft!` becomes `creme-de-la-craft`. A name without Latin letters
 * and digits becomes `server-` and the last 8 digits of its id. A slug never has the shape of an id, because
 * `findServer` accepts both.
 *
 * @param serverId - 24 hex digits
 */
export function slugOf(name: string, serverId: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/['’]/g, '')
    .replace(/[ßæœøđðþłħı]/g, (letter) => LETTERS[letter] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
  if (slug === '') return `server-${serverId.slice(-8)}`;
  return isId(slug) ? `server-${slug}` : slug;
}

/** Whether `text` has the shape of a server's id. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

/** `slug` itself when it is free, else the first free one of `slug-2`, `slug-3`, … */
export function freeSlug(slug: string, taken: Set<string>): string {
  let free = slug;
  for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`;
  return free;
}
