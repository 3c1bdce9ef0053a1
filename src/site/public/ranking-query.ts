import type { FastifyRequest } from 'fastify';
import type { Filters } from '../../ranking/filters.ts';
import { searchText } from '../../ranking/search-text.ts';
import { SORTS, type Sort } from '../../ranking/sorts.ts';
import { queryOf, queryText } from '../shared/form.ts';

export type RankingQuery = {
  /** A name, words or an address. Empty if the page is not a search. */
  q: string;
  filters: Filters;
  /** Of the tag in `filters.tag`, if it is known. */
  tagName?: string;
  /** Not of search results, which are ordered by how well they match. */
  sort: Sort;
  /** From 1. */
  page: number;
};

/**
 * The form sends a version with its game (`minecraft:1.21`). These are ignored: invalid values, a version of another
 * game, and, if there is a tag, the country and the version.
 */
export function rankingQuery(request: FastifyRequest): RankingQuery {
  const { q = '', country, online, version, sort, page, ...query } = queryOf(request);
  const { game: named = query.game, tag: tagged = query.tag } = request.params as {
    game?: string;
    tag?: string;
  };
  const valid = (value: string | undefined, shape: RegExp) =>
    value && shape.test(value) ? value : undefined;
  const game = valid(named?.toLowerCase(), /^[a-z0-9]{1,50}$/);
  const [, of, release] = /^(?:([a-z0-9]{1,50}):)?(\d{1,3}\.\d{1,3})$/.exec(version ?? '') ?? [];
  const tag = valid(tagged?.toLowerCase(), /^[a-z0-9-]{1,60}$/);
  return {
    q: searchText(q),
    filters: {
      game,
      country: tag ? undefined : valid(country?.toUpperCase(), /^[A-Z]{2}$/),
      online: online === 'yes' || undefined,
      version: tag || (of && of !== game) ? undefined : release,
      tag,
    },
    sort: SORTS.find((one) => one === sort) ?? 'rank',
    page: Number(valid(page, /^[1-9]\d{0,6}$/) ?? 1),
  };
}

export function gamePath(game: string): string {
  return `/games/${game}`;
}

export function tagPath(tag: string): string {
  return `/tags/${tag}`;
}

/** The canonical path has the tag or, without a tag, the game; in a search, the query has both. */
export function rankingPath({ q, filters, sort, page }: RankingQuery): string {
  const { game, country, online, version, tag } = filters;
  const isTag = tag !== undefined && !q;
  const isGame = game !== undefined && !q && !isTag;
  return `${isTag ? tagPath(tag) : isGame ? gamePath(game) : '/'}${queryText({
    q,
    tag: isTag ? undefined : tag,
    game: isGame ? undefined : game,
    country,
    version,
    online: online ? 'yes' : undefined,
    sort: q || sort === 'rank' ? undefined : sort,
    page: page > 1 ? String(page) : undefined,
  })}`;
}

export function randomPath({ filters: { game, country, online, version, tag } }: RankingQuery): string {
  return `/servers/random${queryText({ tag, game, country, version, online: online ? 'yes' : undefined })}`;
}

/** Forms send empty fields, but the canonical path has none. */
export function hasEmptyFields(request: FastifyRequest): boolean {
  return Object.values(request.query as Record<string, unknown>).includes('');
}
