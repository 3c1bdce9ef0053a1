import type { FastifyRequest } from 'fastify';
import type { Filters } from '../../ranking/filters.ts';
import { SORTS, type Sort } from '../../ranking/sorts.ts';
import { queryOf, queryText } from '../shared/form.ts';

/** The query of a ranking page. */
export type RankingQuery = {
  /** A search for a name; empty for the ranking itself. */
  q: string;
  filters: Filters;
  /** The name of `filters.tag`, where it is known. */
  tagName?: string;
  /** The order of a list; the results of a search are in their own. */
  sort: Sort;
  /** From 1. */
  page: number;
};

/** Maximum length of a name. */
const MAX_NAME_LENGTH = 100;

/**
 * Reads a query. Invalid values, such as a country of five letters, are ignored. The address of a game's page has the game
 * in its path. In the form a version is that of a game, `minecraft:1.21`, and without this game it is ignored.
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

/** Cleans the text of a name search: one line of well-formed text, at most as long as a name. */
export function searchText(typed: string): string {
  const line = typed
    .slice(0, 2 * MAX_NAME_LENGTH)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return Array.from(line).slice(0, MAX_NAME_LENGTH).join('').trim();
}

/** The path of a game's page. */
export function gamePath(game: string): string {
  return `/games/${game}`;
}

/** The path of a tag's page. */
export function tagPath(tag: string): string {
  return `/tags/${tag}`;
}

/** The canonical path of a page, with its query. A search in a game or a tag has no page of its own. */
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

/** The address that leads to a random server of a list. */
export function randomPath({ filters: { game, country, online, version, tag } }: RankingQuery): string {
  return `/servers/random${queryText({ tag, game, country, version, online: online ? 'yes' : undefined })}`;
}

/** Whether the query has empty fields, which the canonical path leaves out. */
export function hasEmptyFields(request: FastifyRequest): boolean {
  return Object.values(request.query as Record<string, unknown>).includes('');
}
