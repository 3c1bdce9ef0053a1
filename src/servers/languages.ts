import { LANGUAGES, type Language, languageNow } from '../language/language.ts';

/** Gives names in the languages of the pages. `none`: the name of a code that is not assigned is undefined. */
const NAMES = Object.fromEntries(
  LANGUAGES.map((language) => [
    language,
    new Intl.DisplayNames(language, { type: 'language', fallback: 'none' }),
  ]),
) as Record<Language, Intl.DisplayNames>;

/** The languages by ISO 639-1 code: every assigned code of two letters. */
const CODES = twoLetters().filter((code) => new Intl.Locale(code).language === code && NAMES.en.of(code));

/** An ISO 639-1 code for each lower-case code, name in a language of the pages and own name. */
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

/** The name of a language in that of the page, such as `German` for `de`; the code itself if it is unknown. */
export function languageName(code: string): string {
  return NAMES[languageNow()].of(code) ?? code;
}

/** The names of all languages in that of the page, sorted. */
export function languageNames(): string[] {
  return CODES.map(languageName).toSorted((one, other) => one.localeCompare(other, languageNow()));
}

/**
 * The ISO 639-1 code of a language given by its code, its name in a language of the pages or its own name; undefined
 * for any other text.
 */
export function languageOf(text: string): string | undefined {
  return BY_NAME.get(text.trim().toLowerCase());
}
