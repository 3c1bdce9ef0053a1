import { beforeAll, expect, test } from 'vitest';
import { SHIPPED_LANGUAGES } from '../../src/language/language.ts';
import { listServers } from '../support/servers.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

/** The language of a page. */
const languageOf = (page: string) => page.match(/<html lang="(..)">/)?.[1];

const GERMAN = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' };

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

test.each([
  ['no preference', {}, 'en'],
  ['German first', GERMAN, 'de'],
  ['German after a language that there is not', { 'accept-language': 'xx, de;q=0.8, en;q=0.2' }, 'de'],
  ['English first', { 'accept-language': 'en-US, de;q=0.9' }, 'en'],
  ['German refused', { 'accept-language': 'de;q=0' }, 'en'],
  ['only other languages', { 'accept-language': 'xx, yy' }, 'en'],
  ['a header that is none', { 'accept-language': ';;q=,,x-'.repeat(900) }, 'en'],
  ['a choice against the browser', { ...GERMAN, cookie: 'a=b; tallyport-language=en' }, 'en'],
  ['an unknown choice', { ...GERMAN, cookie: 'tallyport-language=xx' }, 'de'],
])('a page is in the visitor’s language: %s', async (_name, headers, language) => {
  const { body } = await getPage(web, '/', headers as Record<string, string>);
  expect(languageOf(body)).toBe(language);
});

test('DEFAULT_LANGUAGE is for visitors without a preference', async () => {
  const web = await openWebApp({ DEFAULT_LANGUAGE: 'de' });
  expect(languageOf((await getPage(web, '/')).body)).toBe('de');
  expect(languageOf((await getPage(web, '/', { 'accept-language': 'en' })).body)).toBe('en');
});

test('a visitor chooses a language for a year and stays on the page', async () => {
  const { body } = await getPage(web, '/how-ranking-works?server=x');
  const [, link = ''] = body.match(/href="([^"]+)" lang="de"/) ?? [];
  const chosen = await getPage(web, link.replaceAll('&amp;', '&'));
  expect(chosen).toMatchObject({ statusCode: 303, headers: { location: '/how-ranking-works?server=x' } });
  expect(String(chosen.headers['set-cookie'])).toMatch(
    /^tallyport-language=de; Path=\/; Max-Age=31536000; SameSite=Lax; HttpOnly$/,
  );
  const elsewhere = await getPage(web, '/language/de?next=//elsewhere.example');
  expect(elsewhere.headers.location).toBe('/');
  const missing = await getPage(web, '/language/xx', GERMAN);
  expect(missing.statusCode).toBe(404);
  expect(missing.body).toContain('Dieses Verzeichnis gibt es nicht in dieser Sprache.');
});

test('search engines find each language at an address of its own', async () => {
  await listServers(web.deps, [{ name: 'One', game: 'minecraft' }]);
  const { body, headers } = await getPage(web, '/games/minecraft?lang=de');
  const { url } = web.app.site;
  expect(languageOf(body)).toBe('de');
  expect(body).toContain(`<link rel="canonical" href="${url}/games/minecraft?lang=de" />`);
  expect(headers.link).toContain(`<${url}/games/minecraft?lang=de>; rel="canonical"`);
  for (const language of SHIPPED_LANGUAGES)
    expect(body).toContain(`hreflang="${language}" href="${url}/games/minecraft?lang=${language}"`);
  expect(body).toContain(`hreflang="x-default" href="${url}/games/minecraft"`);
  const plain = await getPage(web, '/games/minecraft', GERMAN);
  expect(plain.body).toContain(`<link rel="canonical" href="${url}/games/minecraft" />`);
});

test('cached pages of one address differ by language, and a header tells caches so', async () => {
  const bodies = [];
  for (const headers of [GERMAN, {}, GERMAN])
    bodies.push(await getPage(web, '/', headers as Record<string, string>));
  expect(bodies.map(({ body }) => body.match(/lang="(..)"/)?.[1])).toEqual(['de', 'en', 'de']);
  expect(bodies[0]?.headers.vary).toContain('accept-language');
  expect(bodies[0]?.headers.etag).not.toBe(bodies[1]?.headers.etag);
});

test('errors of forms and of pages are in the visitor’s language', async () => {
  const { headers } = await signIn(web);
  const sent = await sendForm(
    web,
    '/dashboard/servers/new',
    { name: '', address: 'a b', port: '0', game: '', queryPort: '', countryCode: '' },
    { ...headers, ...GERMAN },
  );
  expect(sent.body).toContain('Darf nicht leer sein.');
  expect(sent.body).toContain('Ein Host hat keine Leerzeichen und keine unsichtbaren Zeichen.');
  expect(sent.body).toContain('Muss eine ganze Zahl von 1 bis 65535 sein.');
  const missing = await getPage(web, '/servers/nobody', GERMAN);
  expect(missing.body).toContain('Seite nicht gefunden');
  expect(missing.body).toContain('Unter dieser Adresse ist kein Server gelistet.');
  expect((await getPage(web, '/nothing/here', GERMAN)).body).toContain(
    'Unter dieser Adresse gibt es nichts.',
  );
});

test('the API and the admin area are English', async () => {
  const { headers } = await signIn(web, { role: 'operator' });
  const area = await getPage(web, '/operator', { ...headers, ...GERMAN });
  expect(area).toMatchObject({ statusCode: 200 });
  expect(languageOf(area.body)).toBe('en');
  const answer = await web.app.inject({ url: '/api/v1/nothing', headers: GERMAN });
  expect(answer.json().error).toBe('There is nothing at this address.');
});

test('the account keeps a chosen language for other browsers, and for mails', async () => {
  const { headers, userId } = await signIn(web);
  const language = async () => (await web.deps.users.findOne({ _id: userId }))?.language;
  expect(await language()).toBe('en');
  const page = async (more: Record<string, string> = {}) =>
    languageOf((await getPage(web, '/account', { ...headers, ...more })).body);
  expect(await page(GERMAN)).toBe('de');
  // A link on another site changes the browser's language only.
  await getPage(web, '/language/pl', { ...headers, 'sec-fetch-site': 'cross-site' });
  expect(await language()).toBe('en');
  await getPage(web, '/language/fr', { ...headers, 'sec-fetch-site': 'same-origin' });
  expect(await language()).toBe('fr');
  expect([await page(), await page(GERMAN)]).toEqual(['fr', 'fr']);
  expect(await page({ cookie: `${headers.cookie}; tallyport-language=pl` })).toBe('pl');
  expect(languageOf((await getPage(web, '/account?lang=de', headers)).body)).toBe('de');
});

test('an operator switches languages off, and English too', async () => {
  const web = await openWebApp({ LANGUAGES: 'de,fr', DEFAULT_LANGUAGE: 'fr' });
  const { body } = await getPage(web, '/');
  expect(languageOf(body)).toBe('fr');
  expect([...body.matchAll(/rel="alternate" hreflang="([a-z]+)"/g)].map(([, code]) => code)).toEqual([
    'de',
    'fr',
  ]);
  expect(body).toContain('/language/de?');
  expect(body).not.toContain('/language/pl?');
  expect((await getPage(web, '/language/pl')).statusCode).toBe(404);
  expect(languageOf((await getPage(web, '/?lang=pl', GERMAN)).body)).toBe('de');
  expect(languageOf((await getPage(web, '/', { 'accept-language': 'en' })).body)).toBe('fr');
});
