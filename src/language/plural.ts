import { LOCALES, languageNow } from './language.ts';

const rules = new Map<string, Intl.PluralRules>();

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
