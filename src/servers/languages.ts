import { LANGUAGES, type Language, languageNow } from '../language/language.ts';

/** The names of languages, in each language of the pages. An unassigned code has no name (`fallback: 'none'`). */
const NAMES = Object.fromEntries(
  LANGUAGES.map((language) => [
    language,
    new Intl.DisplayNames(language, { type: 'language', fallback: 'none' }),
  ]),
) as Record<Language, Intl.DisplayNames>;

/** The assigned ISO 639-1 codes. */
const CODES = twoLetters().filter((code) => new Intl.Locale(code).language === code && NAMES.en.of(code));

/** Maps a lower-case code or name of a language to its ISO 639-1 code (see `languageOf`). */
const BY_NAME = new Map(
  CODES.flatMap((code) =>
    [
      new Intl.DisplayNames(code, { type: 'language' }).of(code),
      code,
      ...LANGUAGES.map((language) => NAMES[language].of(code)),
    ].flatMap((name) => (name ? [[name.toLowerCase(), code] as const] : [])),
  ),
);

function twoLetters(): string[] {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  return letters.flatMap((first) => letters.map((second) => `${first}${second}`));
}

/** The name of a language in the language of the page (`German` for `de`); the code if the language is unknown. */
export function languageName(code: string): string {
  return NAMES[languageNow()].of(code) ?? code;
}

/** The ISO 639-1 code for a code, a name in a language of the pages, or the language's own name (`deutsch`). */
export function languageOf(text: string): string | undefined {
  return BY_NAME.get(text.trim().toLowerCase());
}
