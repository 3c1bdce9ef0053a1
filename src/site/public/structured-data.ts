import type { ServerInfo } from '../../history/server-info.ts';
import { languageNow } from '../../language/language.ts';
import { t } from '../../language/t.ts';
import { type ListPage, ROWS } from '../../ranking/read-lists.ts';
import { ENOUGH_REVIEWS } from '../../ranking/sorts.ts';
import type { Server } from '../../servers/server.ts';
import type { Site } from '../shared/decorate-site.ts';
import { gameName } from '../shared/game-names.ts';
import type { JsonLd } from '../shared/json-ld.ts';
import { publicPath } from '../shared/server-paths.ts';
import { feedPath, feedTitle } from './feeds.ts';
import { headingOf } from './ranking-filters.ts';
import { gamePath, type RankingQuery } from './ranking-query.ts';

type Place = Pick<Site, 'url' | 'name'>;
/** `path` is below the site's base. The page itself has none. */
type Step = { name: string; path?: string };

export function webSite({ url, name }: Place): JsonLd {
  return {
    '@type': 'WebSite',
    '@id': `${url}/#site`,
    url: `${url}/`,
    name,
    inLanguage: languageNow(),
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${url}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}

function breadcrumbs({ url, name }: Place, steps: Step[]): JsonLd {
  const all: Step[] = [{ name, path: '/' }, ...steps];
  return {
    '@type': 'BreadcrumbList',
    itemListElement: all.map((step, at) => ({
      '@type': 'ListItem',
      position: at + 1,
      name: step.name,
      item: step.path === undefined ? undefined : `${url}${step.path}`,
    })),
  };
}

/** `before` is the number of servers on the pages before. */
export function itemList(
  { url }: Place,
  name: string,
  { rows, total, before }: { rows: { name: string; slug: string }[]; total: number; before: number },
): JsonLd {
  return {
    '@type': 'ItemList',
    name,
    numberOfItems: total,
    itemListOrder: 'https://schema.org/ItemListOrderAscending',
    itemListElement: rows.map((row, at) => ({
      '@type': 'ListItem',
      position: before + at + 1,
      name: row.name,
      url: `${url}${publicPath(row)}`,
    })),
  };
}

/** The feed is of the page's game, or of all games. */
export function searchDataOf(site: Place, query: RankingQuery, { rows, total }: ListPage) {
  const { filters, tagName, page } = query;
  const list = itemList(site, headingOf(query), { rows, total, before: (page - 1) * ROWS });
  const name = filters.game ? gameName(filters.game) : filters.tag ? tagName : undefined;
  return {
    feed: { title: feedTitle(site.name, filters.game), path: feedPath(filters.game) },
    items: [list, name ? breadcrumbs(site, [{ name }]) : webSite(site)],
  };
}

export type Described = {
  server: Pick<Server, 'name' | 'slug' | 'game' | 'profile'>;
  info: ServerInfo;
  reviews: { total: number; averageRating: number };
  description: string;
};

export function gameServer(site: Place, described: Described): JsonLd[] {
  const { server, info, description } = described;
  const { game, profile } = server;
  const { url } = site;
  const id = `${url}${publicPath(server)}#server`;
  const picture = profile?.banner?.wide ?? profile?.icon?.picture;
  const ofGame = game ? [{ name: gameName(game), path: gamePath(game) }] : [];
  const isOnline = info.status === 'online';
  return [
    {
      '@type': 'GameServer',
      '@id': id,
      name: server.name,
      url: `${url}${publicPath(server)}`,
      description,
      image: picture ? `${url}/pictures/${picture}.webp` : undefined,
      game: game
        ? {
            '@type': 'VideoGame',
            name: gameName(game),
            url: `${url}${gamePath(game)}`,
            playMode: 'MultiPlayer',
          }
        : undefined,
      playersOnline: isOnline && !info.playersHidden ? info.onlinePlayers : undefined,
      serverStatus: statusOf(info),
    },
    ...ratingOf(id, described),
    breadcrumbs(site, [...ofGame, { name: server.name }]),
  ];
}

/** In the words of schema.org; undefined while it is unknown. */
function statusOf({ status, onlinePlayers, maxPlayers, playersHidden }: ServerInfo): string | undefined {
  if (status === 'unknown') return undefined;
  if (status === 'offline') return 'https://schema.org/OfflineTemporarily';
  const isFull = !playersHidden && maxPlayers > 0 && onlinePlayers >= maxPlayers;
  return isFull ? 'https://schema.org/OnlineFull' : 'https://schema.org/Online';
}

/** An item of its own, because a `GameServer` of schema.org has no `aggregateRating`. Few reviews say little. */
function ratingOf(id: string, { server, reviews: { total, averageRating } }: Described): JsonLd[] {
  if (total < ENOUGH_REVIEWS) return [];
  return [
    {
      '@type': 'AggregateRating',
      name: t('Reviews of {server}', { server: server.name }),
      itemReviewed: { '@id': id },
      ratingValue: averageRating,
      bestRating: 5,
      worstRating: 1,
      reviewCount: total,
    },
  ];
}
