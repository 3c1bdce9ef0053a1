import { AsyncLocalStorage } from 'node:async_hooks';
import de from './catalogues/de.json' with { type: 'json' };
import es from './catalogues/es.json' with { type: 'json' };
import fr from './catalogues/fr.json' with { type: 'json' };
import nl from './catalogues/nl.json' with { type: 'json' };
import pl from './catalogues/pl.json' with { type: 'json' };
import pt from './catalogues/pt.json' with { type: 'json' };
import ru from './catalogues/ru.json' with { type: 'json' };
import tr from './catalogues/tr.json' with { type: 'json' };

/** The translations by the English text, in ICU MessageFormat. */
export type Texts = Readonly<Record<string, string>>;

/** A code without a region, such as `de`. */
export type Language = string;

/**
 * Each language that Tallyport has. A language is a line here and its catalogue (docs/translating.md). English texts
 * stand for those that a catalogue lacks.
 */
export const SHIPPED: Readonly<Record<Language, Texts>> = { en: {}, de, es, fr, nl, pl, pt, ru, tr };

export const SHIPPED_LANGUAGES: readonly Language[] = Object.keys(SHIPPED);

/** Where the usual locale of a language is not the one that is meant. */
const LOCALES: Record<Language, string> = { en: 'en-GB', pt: 'pt-BR' };

export function localeOf(language: Language): string {
  return LOCALES[language] ?? language;
}

let catalogues = new Map<Language, Texts>(Object.entries(SHIPPED));

/** Lays an operator's own texts over those of Tallyport, in place of the own texts of the last call. */
export function useOwnTexts(own: Readonly<Record<Language, Texts>>): void {
  const changed = Object.entries(own).map(([language, texts]): [Language, Texts] => [
    language,
    { ...SHIPPED[language], ...texts },
  ]);
  catalogues = new Map([...Object.entries(SHIPPED), ...changed]);
}

/** Those of Tallyport, then those that an operator added. */
export function allLanguages(): Language[] {
  return [...catalogues.keys()];
}

/** Those of `allLanguages` that the operator has not switched off; English if that leaves none. */
export function offeredLanguages({ LANGUAGES }: { LANGUAGES: readonly Language[] }): Language[] {
  const offered = allLanguages().filter((one) => LANGUAGES.length === 0 || LANGUAGES.includes(one));
  return offered.length > 0 ? offered : ['en'];
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
  const texts = catalogues.get(language);
  return (texts && Object.hasOwn(texts, text) && texts[text]) || text;
}
