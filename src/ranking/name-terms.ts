import { editDistance } from '../platform/edit-distance.ts';

/** A name is looked at so far, in code units: no listed one is longer. */
const LONGEST_NAME = 100;
/** A name has so many words at most that are looked at. */
const MOST_WORDS = 12;

/**
 * A name as names are compared: without case, accents, punctuation and invisible characters, its words parted by
 * one space. Empty where nothing is left.
 */
export function foldName(name: string): string {
  return name
    .slice(0, 4 * LONGEST_NAME)
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}'’]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .toWellFormed();
}

function wordsOf(folded: string): string[] {
  return folded === '' ? [] : folded.split(' ').slice(0, MOST_WORDS);
}

/**
 * What names are found by, after {@link foldName}: the whole name (`=alpha craft`), the letters of the name with each
 * of them left out in turn, each word's letters in alphabetical order, which a swap leaves as they are, the pieces of
 * three characters of each word with its ends, which any one mistake leaves some of, and what one types first.
 *
 * The second kind finds a misspelt name however many others share its pieces: where two names are one mistake apart,
 * one of them without a letter is the other without a letter.
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

/** A longer name is known by its pieces. */
const MOST_LETTERS = 30;

/** The variants of all names together are put into so many lists: few names share one by chance. */
const BUCKETS = 2 ** 17;

/**
 * A name without its spaces, whole and with each of its letters left out in turn, as numbers of lists. Each number
 * follows from what stands before and behind the letter, so that a name costs no more than its length.
 */
function withoutALetter(joined: string): string[] {
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

/** Of the polynomial by which texts become numbers. */
const FACTOR = 0x01000193;

/** Spreads numbers that differ in their high bits only. */
function mixed(number: number): number {
  return Math.imul(number ^ (number >>> 15), 0x2c1b3c6d) >>> 0;
}

/** A number of 32 bits for a text. */
export function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(i)) | 0;
  return mixed(hash);
}

/** Under this a name is not what was looked for. */
export const LIKELY = 0.55;

/**
 * How much a name is like what was typed, both folded: 1 for the same, 0 for nothing in common. Each word that was
 * typed counts by its length with the word of the name that is most like it; a name with fewer words besides, or
 * the same words together, is a little more like it.
 */
export function likeness(typed: string, name: string): number {
  if (typed === name) return 1;
  const [asked, there] = [wordsOf(typed), wordsOf(name)];
  if (asked.length === 0 || there.length === 0) return 0;
  const letters = asked.reduce((sum, word) => sum + word.length, 0);
  const byWords = asked.reduce((sum, word) => {
    return sum + word.length * Math.max(...there.map((other) => wordLikeness(word, other)));
  }, 0);
  // One word more or less: `mine craft`, `alphacraft`.
  const joined = wordLikeness(asked.join(''), there.join(''));
  const spare = Math.max(there.length - asked.length, 0);
  return Math.max((byWords / letters) * (1 - 0.02 * Math.min(spare, 5)), 0.97 * joined);
}

/** Comparing long words costs the product of their lengths; what differs behind this is not looked at. */
const COMPARED_LETTERS = 40;

function wordLikeness(whole: string, wholeWord: string): number {
  if (whole === wholeWord) return 1;
  const [typed, word] = [whole.slice(0, COMPARED_LETTERS), wholeWord.slice(0, COMPARED_LETTERS)];
  // The more of it was typed, the likelier it is meant.
  if (word.startsWith(typed)) return 0.85 + 0.1 * (typed.length / wholeWord.length);
  return Math.max(
    mistaken(typed, word),
    begun(typed, word),
    typed.length >= 3 && word.includes(typed) ? 0.8 : 0,
  );
}

/** A word with mistakes. */
function mistaken(typed: string, word: string): number {
  const [shorter = 0, longer = 0] = [typed.length, word.length].toSorted((a, b) => a - b);
  // As many letters are missing at least.
  if (shorter < LIKELY * longer && longer > 2) return 0;
  const distance = editDistance(typed, word);
  const alike = Math.max(0, 1 - distance / longer);
  // A short word has room for one mistake.
  return distance === 1 && longer >= 3 ? Math.max(alike, 0.75) : alike;
}

/** The beginning of a word, with mistakes: `hypxi` for `hypixel`. */
function begun(typed: string, word: string): number {
  if (typed.length < 4 || word.length <= typed.length) return 0;
  return 0.9 * (1 - editDistance(typed, word.slice(0, typed.length)) / typed.length);
}

/** A name that shares a term of the whole name is almost the one that was typed. */
const WHOLE = 10;

/** How much it says that a name has this term, where `total` names have it. */
export function termWeight(key: string, total: number): number {
  const isWhole = /^n:[=#]/.test(key);
  return (isWhole ? WHOLE : 1) / Math.log2(2 + total);
}

/** The key of the list of the servers whose names have a term. */
export function termKey(term: string): string {
  return `n:${term}`;
}
