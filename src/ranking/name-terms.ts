import { editDistance } from '../platform/edit-distance.ts';

/** In code units. Longer names and search texts are cut. */
const LONGEST_NAME = 100;
const MOST_WORDS = 12;

/**
 * Without case, accents, punctuation and invisible characters, with one space between words. It may be empty.
 * `longest`: in code units; longer texts are cut.
 */
export function foldName(name: string, longest = LONGEST_NAME): string {
  return name
    .slice(0, 4 * longest)
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}'’]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed();
}

function wordsOf(folded: string): string[] {
  return folded === '' ? [] : folded.split(' ').slice(0, MOST_WORDS);
}

/**
 * The search terms of a folded name ({@link foldName}). The first term has the whole name, the others only its first 12
 * words.
 *
 * - `=alpha craft`: the whole name;
 * - `#123`: a hash of the name without spaces, whole and with each letter removed in turn (see `withoutALetter`). If
 *   two names differ in one letter: they share such a term. Names of more than 30 letters have none;
 * - `*aahlp`: the letters of each word in alphabetical order, which finds swapped letters;
 * - ` al`, `alp`, …: the trigrams of each word with a space before and after it;
 * - `^a`, `^al`: the first letter and the first two letters of each word.
 */
export function nameTerms(folded: string): string[] {
  const words = wordsOf(folded);
  if (words.length === 0) return [];
  const terms = new Set([`=${folded}`, ...withoutALetter(words.join(''))]);
  for (const word of words) {
    const letters = [...word];
    terms.add(`*${letters.toSorted().join('')}`);
    const ended = [' ', ...letters, ' '];
    for (let i = 0; i + 2 < ended.length; i += 1) terms.add(ended.slice(i, i + 3).join(''));
    if (letters.length > 1) terms.add(`^${letters.slice(0, 2).join('')}`);
    terms.add(`^${letters[0]}`);
  }
  return [...terms];
}

const MOST_LETTERS = 30;

/** High, so that different names rarely share a `#` term by chance. */
const BUCKETS = 2 ** 17;

/**
 * Of a name without spaces: whole, and with each letter removed in turn. The hash is combined from the text before and
 * after the letter, so the cost is linear.
 */
export function withoutALetter(joined: string): string[] {
  const { length } = joined;
  if (length > MOST_LETTERS) return [];
  const numbers: number[] = [];
  let behind = 0;
  let power = 1;
  const before = [0];
  for (let i = 0; i < length; i += 1) {
    before.push((Math.imul(before[i] ?? 0, FACTOR) + joined.charCodeAt(i)) | 0);
  }
  numbers.push(before[length] ?? 0);
  for (let i = length - 1; i >= 0; i -= 1) {
    numbers.push((Math.imul(before[i] ?? 0, power) + behind) | 0);
    behind = (Math.imul(joined.charCodeAt(i), power) + behind) | 0;
    power = Math.imul(power, FACTOR);
  }
  return numbers.map((number) => `#${mixed(number) % BUCKETS}`);
}

const FACTOR = 0x01000193;

/** `% BUCKETS` uses only the low bits. */
function mixed(number: number): number {
  return Math.imul(number ^ (number >>> 15), 0x2c1b3c6d) >>> 0;
}

export function hash32(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(i)) | 0;
  return mixed(hash);
}

/** Less similar names are not found. */
export const LEAST_SIMILARITY = 0.55;

/**
 * Of two folded texts: 1 if they are equal, 0 if they have nothing in common. Each word of the search text counts by
 * its length and its most similar word of the name; each further word of the name, up to five, lowers the result a
 * little.
 */
export function similarity(typed: string, name: string): number {
  if (typed === name) return 1;
  const [searched, words] = [wordsOf(typed), wordsOf(name)];
  if (searched.length === 0 || words.length === 0) return 0;
  const letters = searched.reduce((sum, word) => sum + word.length, 0);
  const byWords = searched.reduce((sum, word) => {
    return sum + word.length * Math.max(...words.map((other) => wordSimilarity(word, other)));
  }, 0);
  // For a space that is missing or added (`alphacraft`, `mine craft`).
  const joined = wordSimilarity(searched.join(''), words.join(''));
  const spare = Math.max(words.length - searched.length, 0);
  return Math.max((byWords / letters) * (1 - 0.02 * Math.min(spare, 5)), 0.97 * joined);
}

/** Longer words are cut, because the cost of a comparison is the product of both lengths. */
const COMPARED_LETTERS = 40;

export function wordSimilarity(whole: string, wholeWord: string): number {
  if (whole === wholeWord) return 1;
  const [typed, word] = [whole.slice(0, COMPARED_LETTERS), wholeWord.slice(0, COMPARED_LETTERS)];
  if (word.startsWith(typed)) return 0.85 + 0.1 * (typed.length / wholeWord.length);
  return Math.max(
    mistaken(typed, word),
    begun(typed, word),
    typed.length >= 3 && word.includes(typed) ? 0.8 : 0,
  );
}

function mistaken(typed: string, word: string): number {
  const [shorter = 0, longer = 0] = [typed.length, word.length].toSorted((a, b) => a - b);
  if (shorter < LEAST_SIMILARITY * longer && longer > 2) return 0;
  const distance = editDistance(typed, word);
  const alike = Math.max(0, 1 - distance / longer);
  // A short word may have one mistake.
  return distance === 1 && longer >= 3 ? Math.max(alike, 0.75) : alike;
}

function begun(typed: string, word: string): number {
  if (typed.length < 4 || word.length <= typed.length) return 0;
  return 0.9 * (1 - editDistance(typed, word.slice(0, typed.length)) / typed.length);
}

/** Names that share a term of the whole name (`=`, `#`) are almost equal. */
const WHOLE = 10;

/** A rare term weighs more: `total` servers have it. */
export function termWeight(key: string, total: number): number {
  const isWhole = /^n:[=#]/.test(key);
  return (isWhole ? WHOLE : 1) / Math.log2(2 + total);
}

export function termKey(term: string): string {
  return `n:${term}`;
}
