import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';

/** The translations by the English text, in ICU MessageFormat. */
export type Texts = Readonly<Record<string, string>>;

/** A code without a region, such as `de`. */
export type Language = string;

/** Those that Tallyport has. A language is a code here and its catalogue (docs/translating.md). */
export const SHIPPED_LANGUAGES: readonly Language[] = ['en', 'de', 'es', 'fr', 'nl', 'pl', 'pt', 'ru', 'tr'];

/**
 * What a catalogue has; English texts stand for those that it lacks. It is read when a page first needs it: all of them
 * would take a tenth of a second of each start.
 */
export const shippedTexts = forEachLanguage((language): Texts => {
  if (language === 'en' || !SHIPPED_LANGUAGES.includes(language)) return {};
  return JSON.parse(readFileSync(new URL(`./catalogues/${language}.json`, import.meta.url), 'utf8'));
});

/** Where the usual locale of a language is not the one that is meant. */
const LOCALES: Record<Language, string> = { en: 'en-GB', pt: 'pt-BR' };

export function localeOf(language: Language): string {
  return LOCALES[language] ?? language;
}

let ownTexts: Readonly<Record<Language, Texts>> = {};

/** Lays an operator's own texts over those of Tallyport, in place of the own texts of the last call. */
export function useOwnTexts(texts: Readonly<Record<Language, Texts>>): void {
  ownTexts = texts;
}

/** Those of Tallyport, then those that an operator added. */
export function allLanguages(): Language[] {
  return [...new Set([...SHIPPED_LANGUAGES, ...Object.keys(ownTexts)])];
}

/** Those of `allLanguages` that the operator has not switched off; English if that leaves none. */
export function offeredLanguages({ LANGUAGES }: { LANGUAGES: readonly Language[] }): Language[] {
  const offered = allLanguages().filter((one) => LANGUAGES.length === 0 || LANGUAGES.includes(one));
  return offered.length > 0 ? offered : ['en'];
}

/** `DEFAULT_LANGUAGE`, or the first offered language if the operator has switched it off or there is none of this name. */
export function defaultLanguage(config: {
  LANGUAGES: readonly Language[];
  DEFAULT_LANGUAGE: Language;
}): Language {
  const offered = offeredLanguages(config);
  return offered.includes(config.DEFAULT_LANGUAGE) ? config.DEFAULT_LANGUAGE : (offered[0] as Language);
}

/** `make` is called once for each language that is asked for. */
export function forEachLanguage<T>(make: (language: Language) => T): (language: Language) => T {
  const made = new Map<Language, T>();
  return (language) => {
    const known = made.get(language);
    if (known !== undefined) return known;
    const value = make(language);
    made.set(language, value);
    return value;
  };
}

/** In the language itself, with a capital letter: `Deutsch`. */
export const nameOfLanguage = forEachLanguage((language) =>
  capitalized(new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language, language),
);

const current = new AsyncLocalStorage<Language>();

/** That of the surrounding `inLanguage`, otherwise English. */
export function languageNow(): Language {
  return current.getStore() ?? 'en';
}

/** The language also holds for the asynchronous work of `make`. */
export function inLanguage<T>(language: Language, make: () => T): T {
  return current.run(language, make);
}

/** With a capital letter first: Turkish `i` becomes `İ`. */
export function capitalized(text: string, language: Language = languageNow()): string {
  return text.charAt(0).toLocaleUpperCase(localeOf(language)) + text.slice(1);
}

export function translationOf(text: string, language: Language): string {
  return textIn(ownTexts[language], text) || textIn(shippedTexts(language), text) || text;
}

/** A text may have the name of a property that every object has. */
function textIn(texts: Texts | undefined, text: string): string | undefined {
  return texts && Object.hasOwn(texts, text) ? texts[text] : undefined;
}
