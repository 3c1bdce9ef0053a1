import { beforeAll, expect, test } from 'vitest';
import { listServers } from '../support/servers.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let ids: string[];

beforeAll(async () => {
  web = await openWebApp({ PUBLIC_URL: 'https://example.org/listing' });
  const many = Array.from({ length: 25 }, (_, n) => ({ name: `Server ${n}`, game: n % 2 ? 'rust' : null }));
  const hostile = { name: ']]>&<script>"\u0007\u202e', game: 'minecraft' };
  const listed = await listServers(web.deps, [...many, hostile, { name: 'Hidden', hiddenAt: new Date() }]);
  ids = listed.map((id) => id.toHexString());
});

const valuesOf = (body: string, element: string) =>
  Array.from(
    body.matchAll(new RegExp(`<${element}(?: [^>]*)?>([^<]*)</${element}>`, 'g')),
    ([, value]) => value,
  );

test('a feed has the 20 newest servers, newest first, with ids that no renaming changes', async () => {
  const { headers, body } = await getPage(web, '/feed.atom');
  expect(headers).toMatchObject({
    'content-type': 'application/atom+xml; charset=utf-8',
    'cache-control': expect.stringMatching(/^public, max-age=\d+/),
  });
  const [feed, ...entries] = body.split('<entry>');
  expect(entries).toHaveLength(20);
  expect(valuesOf(feed ?? '', 'id')).toEqual(['https://example.org/listing/feed.atom']);
  expect(valuesOf(entries[0] ?? '', 'id')).toEqual([`https://example.org/listing/servers/${ids[25]}`]);
  expect(valuesOf(entries[1] ?? '', 'title')).toEqual(['Server 24']);
  expect(entries[1]).toContain('href="https://example.org/listing/servers/server-24"');
  const times = valuesOf(body, 'updated').map((time) => Date.parse(time ?? ''));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(body).not.toContain('Hidden');
});

test('a name of unusual characters leaves the feed well-formed', async () => {
  const { body } = await getPage(web, '/games/minecraft/feed.atom');
  expect(valuesOf(body, 'title')[1]).toMatch(/^\]\]&gt;&amp;&lt;script&gt;/);
  expect(body).not.toContain('\u0007');
});

test('a game has its own feed; other addresses are not found', async () => {
  const { body } = await getPage(web, '/games/rust/feed.atom');
  expect(valuesOf(body, 'title')).toHaveLength(13);
  expect(body).toContain('<category term="rust" label="Rust"/>');
  // A known game without servers has an empty feed.
  expect((await getPage(web, '/games/valheim/feed.atom')).body).not.toContain('<entry>');
  for (const game of ['nosuchgame', '-', 'RUST', '%2e'])
    expect((await getPage(web, `/games/${game}/feed.atom`)).statusCode, game).toBe(404);
});

test('a feed is in the language of its address only, and answers 304 while it is unchanged', async () => {
  const english = await getPage(web, '/feed.atom', { 'accept-language': 'de' });
  expect(english.body).toContain('xml:lang="en"');
  expect(valuesOf((await getPage(web, '/feed.atom?lang=de')).body, 'title')[0]).toMatch(/^Neue Server auf/);
  const again = await getPage(web, '/feed.atom', { 'if-none-match': String(english.headers.etag) });
  expect(again.statusCode).toBe(304);
});

test('lists link to their feed', async () => {
  const feedOf = async (path: string) =>
    /type="application\/atom\+xml" title="[^"]+" href="([^"]+)"/.exec((await getPage(web, path)).body)?.[1];
  expect(await feedOf('/')).toBe('https://example.org/listing/feed.atom');
  expect(await feedOf('/games/rust')).toBe('https://example.org/listing/games/rust/feed.atom');
  expect(await feedOf('/?lang=de')).toBe('https://example.org/listing/feed.atom?lang=de');
});
