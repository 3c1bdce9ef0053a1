import { forEachLanguage, languageNow, localeOf } from '../../language/language.ts';

const regionsIn = forEachLanguage((language) => regions(localeOf(language)));

/** Unicode's list also has regions that are no countries of ISO 3166-1, such as the EU. */
function regions(locale: string): [string, string][] {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });
  const noCountry = new Set('EU EZ UN QO XA XB ZZ AC CP CQ DG EA IC TA'.split(' '));
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    .filter((code) => !noCountry.has(code) && new Intl.Locale(`und-${code}`).region === code)
    .map((code): [string, string] => [code, names.of(code) ?? ''])
    .filter(([, name]) => name !== '')
    .toSorted(([, a], [, b]) => a.localeCompare(b, locale));
}

const namesIn = forEachLanguage((language) => new Map(regionsIn(language)));

export function countries(): [code: string, name: string][] {
  return regionsIn(languageNow());
}

export function countryName(code: string): string {
  return namesIn(languageNow()).get(code) ?? code;
}
