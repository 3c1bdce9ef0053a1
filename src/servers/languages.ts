/** Names in English; `none`: undefined for a code that is not assigned. */
const ENGLISH = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** The languages by ISO 639-1 code: every assigned code of two letters. */
const CODES = twoLetters().filter((code) => new Intl.Locale(code).language === code && ENGLISH.of(code));

/** An ISO 639-1 code for each lower-case code, English name and own name. */
const BY_NAME = new Map(
  CODES.flatMap((code) =>
    [ENGLISH.of(code), new Intl.DisplayNames(code, { type: 'language' }).of(code), code].flatMap((name) =>
      name ? [[name.toLowerCase(), code] as const] : [],
    ),
  ),
);

function twoLetters(): string[] {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  return letters.flatMap((first) => letters.map((second) => `${first}${second}`));
}

/** The English name of a language, such as `German` for `de`; the code itself if it is unknown. */
export function languageName(code: string): string {
  return ENGLISH.of(code) ?? code;
}

/** The English names of all languages, sorted. */
export function languageNames(): string[] {
  return CODES.map(languageName).toSorted((one, other) => one.localeCompare(other, 'en'));
}

/** The ISO 639-1 code of a language given by its code, its English name or its own name; undefined for others. */
export function languageOf(text: string): string | undefined {
  return BY_NAME.get(text.trim().toLowerCase());
}
