import { LOCALES, languageNow } from './language.ts';

const rules = new Map<string, Intl.PluralRules>();

/** Of two texts, the one that the language of the page uses for this number: `one` for 1, in French also for 0. */
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
