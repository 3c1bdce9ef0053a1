import { AsyncLocalStorage } from 'node:async_hooks';
import de from './catalogues/de.json' with { type: 'json' };

/**
 * Each language with its texts by the English text. A language is a line here and its catalogue (see CONTRIBUTING.md).
 * English texts stand for those that a catalogue lacks.
 */
export const TEXTS = { en: {}, de };

export type Language = keyof typeof TEXTS;

/** The first is also the language of the source texts, of the API and of the CLI. */
export const LANGUAGES = Object.keys(TEXTS) as [Language, ...Language[]];

export const LANGUAGE_NAMES = byLanguage((language) => {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
});

export const LOCALES: Record<Language, string> = { ...byLanguage((language) => language), en: 'en-GB' };

const CATALOGUES = byLanguage((language) => new Map<string, string>(Object.entries(TEXTS[language])));

const current = new AsyncLocalStorage<Language>();

/** That of the surrounding `inLanguage`, otherwise English. */
export function languageNow(): Language {
  return current.getStore() ?? 'en';
}

/** The language also holds for the asynchronous work of `make`. */
export function inLanguage<T>(language: Language, make: () => T): T {
  return current.run(language, make);
}

export function isLanguage(value: unknown): value is Language {
  return LANGUAGES.includes(value as Language);
}

export function translationOf(text: string, language: Language): string {
  return CATALOGUES[language].get(text) || text;
}

export function byLanguage<T>(make: (language: Language) => T): Record<Language, T> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, make(language)])) as Record<Language, T>;
}
