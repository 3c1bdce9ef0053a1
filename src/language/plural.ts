import { LOCALES, languageNow } from './language.ts';

const rules = new Map<string, Intl.PluralRules>();

/** The text that the plural rule of the page's language chooses for this number: in English and German, `one` for 1. */
export function plural<Text>(value: number, one: Text, other: Text): Text {
  return rulesOf(LOCALES[languageNow()]).select(value) === 'one' ? one : other;
}

function rulesOf(locale: string): Intl.PluralRules {
  const known = rules.get(locale);
  if (known) return known;
  const made = new Intl.PluralRules(locale);
  rules.set(locale, made);
  return made;
}
