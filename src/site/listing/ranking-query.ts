import type { FastifyRequest } from 'fastify';
import type { Filters } from '../../ranking/filters.ts';
import { queryOf, queryText } from '../form.ts';

/** What a page of the ranking is asked for. */
export type RankingQuery = {
  /** Part of a name; empty: the ranking itself. */
  q: string;
  filters: Filters;
  /** From 1. */
  page: number;
};

/** No listed name is longer. */
const LONGEST = 100;

/** Reads the query of an address. What cannot be meant, such as a country of five letters, is not asked for. */
export function rankingQuery(request: FastifyRequest): RankingQuery {
  const { q = '', game, country, online, version, page } = queryOf(request);
  const asked = (value: string | undefined, shape: RegExp) =>
    value && shape.test(value) ? value : undefined;
  return {
    q: searchText(q),
    filters: {
      game: asked(game?.toLowerCase(), /^[a-z0-9]{1,50}$/),
      country: asked(country?.toUpperCase(), /^[A-Z]{2}$/),
      online: online === 'yes' || undefined,
      version: asked(version, /^\d{1,3}\.\d{1,3}$/),
    },
    page: Number(asked(page, /^[1-9]\d{0,6}$/) ?? 1),
  };
}

/** What was typed into a field to search for a name: a line of well-formed text, no longer than names are. */
export function searchText(typed: string): string {
  const line = typed
    .slice(0, 2 * LONGEST)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return Array.from(line).slice(0, LONGEST).join('').trim();
}

/** The one path of a page, with its query. */
export function rankingPath({ q, filters, page }: RankingQuery): string {
  const { game, country, online, version } = filters;
  return `/${queryText({
    q,
    game,
    country,
    version,
    online: online ? 'yes' : undefined,
    page: page > 1 ? String(page) : undefined,
  })}`;
}

/** Whether the form was sent with fields left empty: their names only make its address longer. */
export function hasEmptyFields(request: FastifyRequest): boolean {
  return Object.values(request.query as Record<string, unknown>).includes('');
}
