import { plainText } from '../probing/minecraft-text.ts';
import type { ProfileTexts } from '../servers/profile.ts';
import type { Server } from '../servers/server.ts';
import { foldName, hash32, withoutALetter, wordSimilarity } from './name-terms.ts';

/** The projection for `textsOf`. */
export const SEARCHED = {
  address: 1,
  'second.address': 1,
  'current.motd': 1,
  'profile.tags': 1,
  'profile.shortText': 1,
  'profile.description': 1,
} as const;
export type Searched = Pick<Server, 'address'> & {
  second?: Pick<NonNullable<Server['second']>, 'address'> | null | undefined;
  current: Pick<Server['current'], 'motd'>;
  profile?: Pick<ProfileTexts, 'tags' | 'shortText' | 'description'> | null | undefined;
};

/** Besides the name; the most important first, because only the first words count. */
export function textsOf({ address, second, current, profile }: Searched): string {
  const { tags = [], shortText = '', description = '' } = profile ?? {};
  const other = second && second.address !== address ? [second.address] : [];
  return [address, ...other, tags.join(' '), shortText, plainText(current.motd), description].join('\n');
}

/** In code units. Longer texts are cut. */
const LONGEST_TEXT = 800;
/** At most this many different words of a server's texts, or of a search, count. */
const MOST_WORDS = 40;

/** Scripts without spaces: each pair of neighbouring letters is a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

export function textWords(text: string): string[] {
  const words = foldName(text, LONGEST_TEXT).split(' ').filter(Boolean);
  return [...new Set(words.flatMap((word) => (UNSPACED.test(word) ? pairsOf(word) : [word])))].slice(
    0,
    MOST_WORDS,
  );
}

function pairsOf(word: string): string[] {
  const letters = [...word];
  if (letters.length <= 2) return [word];
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** Longer words may have one wrong letter; shorter ones must match exactly. */
const FORGIVEN_FROM = 4;

/** In letters. */
const BEGINNING = 4;

/**
 * Each short word; of a longer one its beginning, and the word whole and with each letter removed in turn. If the first
 * line is an address: its host is a term too.
 */
export function textTerms(text: string): string[] {
  const terms = new Set<string>();
  const host = hostOf(text);
  if (host) terms.add(bucketOf(host));
  for (const word of textWords(text)) {
    if (word.length < FORGIVEN_FROM) terms.add(bucketOf(word));
    else for (const term of withoutALetter(word)) terms.add(term);
    if (word.length >= BEGINNING) terms.add(`^${word.slice(0, BEGINNING)}`);
  }
  return [...terms];
}

function hostOf(text: string): string | undefined {
  return /^\s*([^\s:/]+\.[^\s:/]+)(?::\d{1,5})?\s*(?:\n|$)/.exec(text)?.[1]?.toLowerCase();
}

/** The terms of short words and hosts are spread over so many numbers. */
const BUCKETS = 2 ** 17;

const bucketOf = (text: string) => `@${hash32(text) % BUCKETS}`;

export function withoutPort(typed: string): string {
  return typed.replace(/^(\s*[^\s:/]+\.[^\s:/]+):\d{1,5}\s*$/, '$1');
}

/**
 * The returned function gives 0 to 1: each word of the search counts by its length and the most similar word. It
 * remembers compared pairs, because servers share many words.
 */
export function textComparison(typed: string): (words: string[]) => number {
  const searched = textWords(withoutPort(typed)).map((word) => ({ word, known: new Map<string, number>() }));
  const letters = searched.reduce((sum, { word }) => sum + word.length, 0);
  return (words) => {
    let alike = 0;
    for (const { word, known } of searched) {
      let best = 0;
      for (const other of words) {
        let similarity = known.get(other);
        if (similarity === undefined) {
          similarity = wordSimilarity(word, other);
          known.set(other, similarity);
        }
        if (similarity > best) best = similarity;
      }
      alike += word.length * best;
    }
    return letters === 0 ? 0 : alike / letters;
  };
}

/** Less similar texts are not found. */
export const LEAST_TEXT_SIMILARITY = 0.75;

export function textKey(term: string): string {
  return `t:${term}`;
}
