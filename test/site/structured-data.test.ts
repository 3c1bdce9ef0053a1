import { expect, test } from 'vitest';
import type { ServerInfo } from '../../src/history/server-info.ts';
import { type Described, gameServer, itemList, webSite } from '../../src/site/public/structured-data.ts';
import { jsonLdBlock } from '../../src/site/shared/json-ld.ts';
import { listServers } from '../support/servers.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const SITE = { url: 'https://example.org/listing', name: 'Our servers' };
const INFO = {
  status: 'online',
  onlinePlayers: 12,
  maxPlayers: 100,
  playersHidden: false,
} as ServerInfo;

const described = (
  change: { info?: Partial<ServerInfo>; reviews?: Described['reviews'] } = {},
): Described => ({
  server: { name: 'Alpha', slug: 'alpha', game: 'rust' },
  info: { ...INFO, ...change.info },
  reviews: change.reviews ?? { total: 0, averageRating: 0 },
  description: 'A server.',
});
const itemsOf = (change: Parameters<typeof described>[0] = {}) =>
  new Map(gameServer(SITE, described(change)).map((item) => [item['@type'], item]));

/** The items of a page. */
function itemsIn(body: string): Record<string, unknown>[] {
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body) ?? [];
  return JSON.parse(json)['@graph'];
}

test('text in a block ends neither the block nor begins a comment, and is read unchanged', () => {
  const name = '</script><!-- <script> &amp; \u2028\u2029 "\\';
  const block = String(jsonLdBlock([{ '@type': 'Thing', name }]));
  const inner = block.slice(block.indexOf('>') + 1, block.lastIndexOf('</script>'));
  expect(inner).not.toMatch(/[<>&\u2028\u2029]/);
  expect(itemsIn(block)).toEqual([{ '@type': 'Thing', name }]);
});

test('a server has its game, players and status; nothing is stated that is not known', () => {
  expect(itemsOf().get('GameServer')).toMatchObject({
    url: 'https://example.org/listing/servers/alpha',
    game: { '@type': 'VideoGame', name: 'Rust', url: 'https://example.org/listing/games/rust' },
    playersOnline: 12,
    serverStatus: 'https://schema.org/Online',
  });
  const statusOf = (info: Partial<ServerInfo>) => {
    const server: Record<string, unknown> = itemsOf({ info }).get('GameServer') ?? {};
    return [server.serverStatus, server.playersOnline];
  };
  expect(statusOf({ onlinePlayers: 100 })).toEqual(['https://schema.org/OnlineFull', 100]);
  expect(statusOf({ playersHidden: true, onlinePlayers: 0 })).toEqual([
    'https://schema.org/Online',
    undefined,
  ]);
  expect(statusOf({ status: 'offline' })).toEqual(['https://schema.org/OfflineTemporarily', undefined]);
  expect(statusOf({ status: 'unknown' })).toEqual([undefined, undefined]);
});

test('a rating is stated only with three reviews or more', () => {
  expect(itemsOf({ reviews: { total: 2, averageRating: 5 } }).has('AggregateRating')).toBe(false);
  expect(itemsOf({ reviews: { total: 3, averageRating: 4.67 } }).get('AggregateRating')).toMatchObject({
    itemReviewed: { '@id': 'https://example.org/listing/servers/alpha#server' },
    ratingValue: 4.67,
    reviewCount: 3,
  });
});

test('the second page of a list continues the positions of the first', () => {
  const rows = [{ name: 'Beta', slug: 'beta' }];
  expect(itemList(SITE, 'Rust servers', { rows, total: 21, before: 20 })).toMatchObject({
    numberOfItems: 21,
    itemListElement: [{ position: 21, url: 'https://example.org/listing/servers/beta' }],
  });
  expect(webSite(SITE).potentialAction).toMatchObject({
    target: { urlTemplate: 'https://example.org/listing/?q={search_term_string}' },
  });
});

test('home, game and server pages have their items; a search and a hidden server’s page have none', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [{ name: 'Alpha', game: 'rust' }]);
  const typesOf = async (path: string) =>
    itemsIn((await getPage(web, path)).body).map((item) => item['@type']);
  expect(await typesOf('/')).toEqual(['ItemList', 'WebSite']);
  expect(await typesOf('/games/rust')).toEqual(['ItemList', 'BreadcrumbList']);
  expect(await typesOf('/servers/alpha')).toEqual(['GameServer', 'BreadcrumbList']);
  expect((await getPage(web, '/?q=alpha')).body).not.toContain('ld+json');
});
