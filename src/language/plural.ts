import { byLanguage, LOCALES, languageNow } from './language.ts';

const RULES = byLanguage((language) => new Intl.PluralRules(LOCALES[language]));

export function plural<Text>(value: number, one: Text, other: Text): Text {
  return RULES[languageNow()].select(value) === 'one' ? one : other;
}
