import { beforeAll, describe, expect, test } from 'vitest';
import { type GermanSite, startGermanSite, TRANSLATED_PAGES } from './german-site.ts';
import { untranslated } from './untranslated.ts';

describe('every public page and every page of an owner is German for who reads German', () => {
  let site: GermanSite;

  beforeAll(async () => {
    site = await startGermanSite();
  });

  test.each(
    TRANSLATED_PAGES.map((one) => [one.name ?? one.route, one] as const),
  )('%s', async (_name, one) => {
    const open = async (language: string) => {
      const headers = { accept: 'text/html', 'accept-language': language, cookie: site.cookies[one.reader] };
      return (await fetch(`${site.url}${one.path(site.of)}`, { headers })).text();
    };
    const [german, english] = await Promise.all([open('de'), open('en')]);
    expect([german, english].map((page) => page.match(/<html lang="(..)">/)?.[1])).toEqual(['de', 'en']);
    expect(untranslated(german, english, site.names)).toEqual([]);
  });
});
