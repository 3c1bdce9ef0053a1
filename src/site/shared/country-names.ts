import { byLanguage, LOCALES, languageNow } from '../../language/language.ts';

const REGIONS = byLanguage((language) => regions(LOCALES[language]));

/** The countries of ISO 3166-1: code and name. Unicode's list also has other regions, such as the EU: `noCountry`. */
function regions(locale: string): [string, string][] {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });
  const noCountry = new Set([
    'EU',
    'EZ',
    'UN',
    'QO',
    'XA',
    'XB',
    'ZZ',
    'AC',
    'CP',
    'CQ',
    'DG',
    'EA',
    'IC',
    'TA',
  ]);
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    .filter((code) => !noCountry.has(code) && new Intl.Locale(`und-${code}`).region === code)
    .map((code): [string, string] => [code, names.of(code) ?? ''])
    .filter(([, name]) => name !== '')
    .toSorted(([, a], [, b]) => a.localeCompare(b, locale));
}

const COUNTRIES = byLanguage((language) => new Map(REGIONS[language]));

/** The codes of all countries with their names in the language of the page, sorted by name. */
export function countries(): [code: string, name: string][] {
  return REGIONS[languageNow()];
}

/** The name of a country in the language of the page; the code if the country is not known. */
export function countryName(code: string): string {
  return COUNTRIES[languageNow()].get(code) ?? code;
}
