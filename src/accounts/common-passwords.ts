import { readFileSync } from 'node:fs';

const LIST = new URL('common-passwords.txt', import.meta.url);

const COMMON = new Set(
  readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# ')),
);

/** A piece of at most this many characters, again and again, is as easily guessed as the piece. */
const LONGEST_PIECE = 4;

/**
 * Whether a password is among the first that are tried: one that many users use, in any case, or one short piece
 * again and again.
 */
export function isCommonPassword(password: string): boolean {
  const folded = password.normalize('NFKC').toLowerCase();
  if (COMMON.has(folded)) return true;
  const pieces = Array.from({ length: LONGEST_PIECE }, (_, n) => n + 1);
  return pieces.some((size) => isRepeated(folded, size));
}

/** Whether a password is what anybody knows of its user: the address, the part before its @, or the name. */
export function isOwnPassword(password: string, { email, name }: { email: string; name: string }): boolean {
  const known = [email, email.split('@')[0] ?? '', name].map(folded);
  return known.includes(folded(password));
}

function folded(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Whether `text` is its first `size` characters again and again; the last time they may be cut off. */
function isRepeated(text: string, size: number): boolean {
  return text.length > size && text.slice(size) === text.slice(0, -size);
}
