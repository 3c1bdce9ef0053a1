import { AsyncLocalStorage } from 'node:async_hooks';

/** The languages of the pages. The first one is that of the source texts, of the API and of the CLI. */
export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Each language's name in itself, for links. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** The locale that formats numbers and times. */
export const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

const current = new AsyncLocalStorage<Language>();

/** The language of the texts that are made now: that of the page in work, elsewhere English. */
export function languageNow(): Language {
  return current.getStore() ?? 'en';
}

/** Calls `make`. All texts that it makes, also later and asynchronously, are in `language`. */
export function inLanguage<T>(language: Language, make: () => T): T {
  return current.run(language, make);
}

export function isLanguage(value: unknown): value is Language {
  return LANGUAGES.includes(value as Language);
}
