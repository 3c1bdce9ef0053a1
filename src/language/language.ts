import { AsyncLocalStorage } from 'node:async_hooks';

/** The languages of the pages. The first is also the language of the source texts, of the API and of the CLI. */
export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The name of each language in that language, for links. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** The locale that formats numbers and times. */
export const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

const current = new AsyncLocalStorage<Language>();

/** The language of texts that are made now: that of the surrounding `inLanguage`, otherwise English. */
export function languageNow(): Language {
  return current.getStore() ?? 'en';
}

/** Calls `make`. All texts that `make` and its asynchronous work produce are in `language`. */
export function inLanguage<T>(language: Language, make: () => T): T {
  return current.run(language, make);
}

export function isLanguage(value: unknown): value is Language {
  return LANGUAGES.includes(value as Language);
}
