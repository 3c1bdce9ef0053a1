import { forEachLanguage, languageNow, SHIPPED_LANGUAGES } from '../language/language.ts';

/** The names in each language of the pages. An unassigned code has no name (`fallback: 'none'`). */
const namesIn = forEachLanguage(
  (language) => new Intl.DisplayNames(language, { type: 'language', fallback: 'none' }),
);

/** Assigned codes for which `Intl` has the data of another code (`fil`, `ak`); the first name is shown. */
const REPLACED_BY_INTL: Record<string, [string, ...string[]]> = { tl: ['Filipino', 'Tagalog'], tw: ['Twi'] };

/** The assigned ISO 639-1 codes. Others (`iw`) are left out, because `Intl` replaces them. */
const CODES = twoLetters().filter(
  (code) => code in REPLACED_BY_INTL || (new Intl.Locale(code).language === code && namesIn('en').of(code)),
);

/** Codes by code and by name, both in lower case. */
const BY_NAME = new Map(
  CODES.flatMap((code) => [code, ...namesOf(code)].map((name) => [name.toLowerCase(), code] as const)),
);

function namesOf(code: string): string[] {
  const names = REPLACED_BY_INTL[code];
  if (names) return names;
  const own = new Intl.DisplayNames(code, { type: 'language' }).of(code);
  return [own, ...SHIPPED_LANGUAGES.map((language) => namesIn(language).of(code))].filter(
    (name) => name !== undefined,
  );
}

function twoLetters(): string[] {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  return letters.flatMap((first) => letters.map((second) => `${first}${second}`));
}

/** `German` for `de` on an English page; the code if the language is unknown. */
export function languageName(code: string): string {
  return REPLACED_BY_INTL[code]?.[0] ?? namesIn(languageNow()).of(code) ?? code;
}

/** For a code, a name in a language of the pages, or the language's own name (`deutsch`). */
export function languageOf(text: string): string | undefined {
  return BY_NAME.get(text.trim().toLowerCase());
}
