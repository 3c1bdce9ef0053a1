import { readFileSync } from 'node:fs';

const LIST = new URL('common-passwords.txt', import.meta.url);

const COMMON = new Set(
  readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# ')),
);

/** In characters. A password that only repeats a piece of at most this length is as easy to guess as the piece. */
const LONGEST_PIECE = 4;

export function isCommonPassword(password: string): boolean {
  const folded = password.normalize('NFKC').toLowerCase();
  if (COMMON.has(folded)) return true;
  const pieces = Array.from({ length: LONGEST_PIECE }, (_, n) => n + 1);
  return pieces.some((size) => isRepeated(folded, size));
}

export function isOwnPassword(password: string, { email, name }: { email: string; name: string }): boolean {
  const known = [email, email.split('@')[0] ?? '', name].map(folded);
  return known.includes(folded(password));
}

function folded(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Whether `text` repeats its first `size` characters; the last repetition may be incomplete. */
function isRepeated(text: string, size: number): boolean {
  return text.length > size && text.slice(size) === text.slice(0, -size);
}
