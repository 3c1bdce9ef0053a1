import anyAscii from 'any-ascii';

/** Without the number that `freeSlug` may add. */
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

/** Letters and digits of other scripts than Latin, with their marks. */
const OTHER_SCRIPTS = /(?:[^\P{L}\p{Script=Latin}]|[^\P{N}0-9])\p{M}*/gu;

/** Words that are paths of pages below `/servers/`, so they cannot be slugs. */
const RESERVED = new Set(['random']);

/**
 * `Crème de la Craft!` becomes `creme-de-la-craft`, `Мир Кубов` becomes `mir-kubov`; a name without letters and digits
 * becomes `server-` and the last 8 digits of the id. A slug never looks like an id, because `findServer` accepts both.
 * `serverId`: 24 hex digits.
 */
export function slugOf(name: string, serverId: string): string {
  const slug = inLatin(name.normalize('NFKC'))
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/['’]/g, '')
    .replace(/[ßæœøđðþłħı]/g, (letter) => LETTERS[letter] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
  if (slug === '') return `server-${serverId.slice(-8)}`;
  return isId(slug) || RESERVED.has(slug) ? `server-${slug}` : slug;
}

/** Each Chinese character becomes a word. */
function inLatin(text: string): string {
  return text.replace(OTHER_SCRIPTS, (letter) => {
    const latin = anyAscii(letter);
    return /\p{Script=Han}/u.test(letter) ? ` ${latin} ` : latin;
  });
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

/** As `isId`, in capitals too. No slug does. */
export function looksLikeId(text: string): boolean {
  return isId(text.toLowerCase());
}

/** Otherwise the first free one of `slug-2`, `slug-3`, … */
export function freeSlug(slug: string, taken: Set<string>): string {
  let free = slug;
  for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`;
  return free;
}
