import { t } from '../../language/t.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { countryName } from '../shared/country-names.ts';
import { count, counted, day } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { miniServer } from '../shared/server-parts.ts';
import { type RankingQuery, rankingPath, tagPath } from './ranking-query.ts';

/** The sections “Other tags” and “Servers by tag” have at most this many links. */
const MOST_TAG_LINKS = 24;

/** The servers of a game or tag that were listed recently. */
export function newcomers(base: string, rows: ListedRow[]): Content {
  if (rows.length === 0) return '';
  const cards = rows.map((row) =>
    miniServer(base, row, [row.game && gameName(row.game), html`${t('Listed')} ${day(row.listedAt)}`]),
  );
  return html`<section class="more"><h2>${t('New this month')}</h2><ul class="minis">${cards}</ul></section>`;
}

/**
 * For a game: links to its lists by tag and by country. For a tag: links to its lists by game, and to other tags. For
 * all servers: links to tags. Empty lists are left out.
 */
export function relatedLists(
  base: string,
  query: RankingQuery,
  summary: ListingSummary,
  tags: Tag[],
): Content {
  const { game, tag } = query.filters;
  const to = (more: Filters) =>
    `${base}${rankingPath({ q: '', sort: 'rank', page: 1, filters: { game, tag, ...more } })}`;
  const nameOf = (key: string) => tags.find((one) => one.key === key)?.name;
  if (tag) {
    const others = (summary.tags ?? []).filter(({ value }) => value !== tag).slice(0, MOST_TAG_LINKS);
    const name = query.tagName ?? tag;
    return html`${links(
      t('{tag} servers by game', { tag: name }),
      summary.tagGames?.[tag],
      gameName,
      (value) => to({ game: value }),
    )}${links(t('Other tags'), others, nameOf, (value) => `${base}${tagPath(value)}`)}`;
  }
  if (!game) return tagLinks(base, summary, tags);
  const of = gameName(game);
  return html`${links(t('Tags of {game} servers', { game: of }), summary.gameTags?.[game], nameOf, (value) =>
    to({ tag: value }),
  )}${links(
    t('{game} servers by country', { game: of }),
    summary.gameCountries?.[game],
    countryName,
    (value) => to({ country: value }),
  )}`;
}

/** Links to the pages of the tags with the most servers, and to all tags. */
function tagLinks(base: string, { tags: choices = [] }: ListingSummary, tags: Tag[]): Content {
  const nameOf = (key: string) => tags.find((one) => one.key === key)?.name;
  const all = html`<li><a href="${base}/tags">${t('All tags')}</a></li>`;
  const shown = choices.slice(0, MOST_TAG_LINKS);
  return links(t('Servers by tag'), shown, nameOf, (value) => `${base}${tagPath(value)}`, all);
}

/** A section with links to lists, each with the number of its servers. Values without a name are left out. */
function links(
  title: string,
  choices: Choice[] | undefined,
  nameOf: (value: string) => string | undefined,
  pathOf: (value: string) => string,
  last: Content = '',
): Content {
  const named = (choices ?? []).flatMap(({ value, servers }) => {
    const name = nameOf(value);
    return name ? [{ name, servers, path: pathOf(value) }] : [];
  });
  if (named.length === 0) return '';
  return html`<section class="more"><h2>${title}</h2><ul class="list-links">${named.map(link)}${last}</ul></section>`;
}

function link({ name, servers, path }: { name: string; servers: number; path: string }): Html {
  const words = html`<span class="for-readers">${counted(servers, 'server')}</span>`;
  return html`<li><a href="${path}">${name} <span aria-hidden="true">${count(servers)}</span>${words}</a></li>`;
}
