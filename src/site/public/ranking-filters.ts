import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import { SORTS, type Sort } from '../../ranking/sorts.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { countryName } from '../shared/country-names.ts';
import { count } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { checkbox, select, textField } from '../shared/parts.ts';
import { gamePath, type RankingQuery, randomPath, rankingPath, tagPath } from './ranking-query.ts';

/** The functions that give the display name of a filter's value. */
const NAMES = {
  game: gameName,
  country: countryName,
  version: (version: string) => t('version {version}', { version }),
  online: () => t('online now'),
  tag: (tag: string) => tag,
} as const;

type FilterName = keyof typeof NAMES;

const FILTERS = Object.keys(NAMES) as FilterName[];

/** The form for the search and the filters. It needs no script. */
export function filterForm(base: string, query: RankingQuery, summary: ListingSummary, tags: Tag[]): Html {
  const { q, filters, sort } = query;
  const { game, country, online, tag } = filters;
  return html`<form method="get" action="${base}/" class="filters ranking-filters"
    role="search" aria-label="${t('Servers')}">
    ${textField({
      name: 'q',
      label: t('Search'),
      type: 'search',
      value: q,
      maxlength: 100,
      placeholder: t('Name, text, tag or address'),
      spellcheck: false,
      autocomplete: 'off',
    })}
    ${select({
      name: 'game',
      label: t('Game'),
      value: game ?? '',
      options: options(t('Any game'), summary.games, game, gameName),
    })}
    ${select({
      name: 'tag',
      label: t('Tag'),
      value: tag ?? '',
      options: [['', t('Any tag')], ...tags.map(({ key, name }): [string, string] => [key, name])],
    })}
    ${
      tag
        ? unavailable('country', t('Country'), t('Not with a tag'))
        : select({
            name: 'country',
            label: t('Country'),
            value: country ?? '',
            options: options(t('Any country'), summary.countries, country, countryName),
          })
    }
    ${versionFilter(query, summary)}
    ${checkbox({ name: 'online', label: t('Online now'), checked: online ?? false })}
    ${sort === 'rank' ? '' : html`<input type="hidden" name="sort" value="${sort}" />`}
    <button type="submit">${t('Show')}</button>
  </form>`;
}

/**
 * A disabled filter, which cannot be combined with the other chosen ones. It stays in its place, and `why` says the
 * reason.
 */
function unavailable(name: string, label: string, why: string): Html {
  return select({ name, label, options: [['', why]], disabled: true });
}

function versionFilter({ filters: { game, version, tag } }: RankingQuery, summary: ListingSummary): Html {
  if (tag) return unavailable('version', t('Version'), t('Not with a tag'));
  if (!game) return unavailable('version', t('Version'), t('Choose a game first'));
  const value = version ? `${game}:${version}` : '';
  return select({
    name: 'version',
    label: t('Version'),
    value,
    options: versionOptions(summary, game, version),
  });
}

const SORT_NAMES: Record<Sort, Text> = {
  rank: defineMessage('Rank'),
  players: defineMessage('Players'),
  newest: defineMessage('Newest'),
  rating: defineMessage('Rating'),
  uptime: defineMessage('Uptime'),
};

/** The first page has links to at most this many games. The filter has all games. */
const LINKED_GAMES = 12;

/** Links to the pages of the games with the most servers; nothing if there is only one game. */
export function gameLinks(base: string, { games }: ListingSummary): Content {
  if (games.length < 2) return '';
  return html`<nav class="games" aria-labelledby="by-game"><h2 id="by-game">${t('Servers by game')}</h2><p>
    ${games.slice(0, LINKED_GAMES).map(({ value, servers }) => {
      const number = html`<span class="soft">(${count(servers)})</span>`;
      return html`<span><a href="${base}${gamePath(value)}">${gameName(value)}</a> ${number}</span>`;
    })}
  </p></nav>`;
}

/** Links to the pages of all tags. */
export function tagLinks(base: string, tags: Tag[]): Content {
  if (tags.length === 0) return '';
  return html`<nav class="games" aria-labelledby="by-tag"><h2 id="by-tag">${t('Servers by tag')}</h2><p>
    ${tags.map(({ key, name }) => html`<span><a href="${base}${tagPath(key)}">${name}</a></span>`)}
  </p></nav>`;
}

/** Links to the same list in other orders, with the current order marked; and a link to a random server of the list. */
export function sortLinks(base: string, query: RankingQuery): Html {
  const link = (sort: Sort) => {
    const path = `${base}${rankingPath({ ...query, sort, page: 1 })}`;
    const current = sort === query.sort ? html`aria-current="true"` : '';
    return html`<a href="${path}" ${current}>${t(SORT_NAMES[sort])}</a>`;
  };
  return html`<nav class="sorts" aria-label="${t('Sort by')}">
    <span class="soft" aria-hidden="true">${t('Sort by')}</span>${SORTS.map(link)}
    <a class="random" href="${base}${randomPath(query)}" rel="nofollow">${t('Random server')}</a></nav>`;
}

function options(
  any: string,
  choices: Choice[],
  chosen: string | undefined,
  nameOf: (value: string) => string,
): [string, string][] {
  const named = withChosen(choices, chosen)
    .map(({ value, servers }) => ({ value, servers, name: nameOf(value) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  return [
    ['', any],
    ...named.map(({ value, servers, name }): [string, string] => [value, `${name} (${count(servers)})`]),
  ];
}

/**
 * The options for the versions of a game, newest first. If the user chooses another game, the chosen version is
 * ignored.
 */
function versionOptions(
  { gameVersions = {} }: ListingSummary,
  game: string,
  chosen: string | undefined,
): [string, string][] {
  const choices = Object.entries(gameVersions).find(([id]) => id === game)?.[1] ?? [];
  const numbers = (version: string) => version.split('.').map(Number);
  const sorted = withChosen(choices, chosen).toSorted((a, b) => {
    const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [numbers(a.value), numbers(b.value)];
    return majorB - majorA || minorB - minorA;
  });
  return [
    ['', t('Any version')],
    ...sorted.map(({ value, servers }): [string, string] => [
      `${game}:${value}`,
      `${value} (${count(servers)})`,
    ]),
  ];
}

/** The options. If the selected value is not among the most frequent values, it is added. */
function withChosen(choices: Choice[], chosen: string | undefined): Choice[] {
  const isThere = !chosen || choices.some(({ value }) => value === chosen);
  return isThere ? choices : [...choices, { value: chosen, servers: 0 }];
}

/** The active filters. Each is a link that removes it. */
export function activeFilters(base: string, query: RankingQuery): Content {
  const { q, filters } = query;
  const without = (name: FilterName) =>
    rankingPath({ ...query, page: 1, filters: { ...filters, [name]: undefined } });
  const dropped = [
    ...(q
      ? [{ text: t('“<bdi>{words}</bdi>”', { words: q }), path: rankingPath({ ...query, q: '', page: 1 }) }]
      : []),
    ...FILTERS.filter((name) => filters[name]).map((name) => ({
      text: html`${name === 'tag' && query.tagName ? query.tagName : NAMES[name](String(filters[name]))}`,
      path: without(name),
    })),
  ];
  if (dropped.length === 0) return '';
  return html`<ul class="active-filters" aria-label="${t('Active filters')}">
    ${dropped.map(({ text, path }) => {
      const does = html`<span class="for-readers">${t('Remove the filter')} </span>`;
      return html`<li><a href="${base}${path}">${does}${text}<span aria-hidden="true"> ✕</span></a></li>`;
    })}
    ${dropped.length > 1 ? html`<li><a href="${base}/" class="all">${t('All servers')}</a></li>` : ''}
  </ul>`;
}

const onlineServers = (of: string) => (of ? t('Online {of} servers', { of }) : t('Online servers'));

/** The heading of a filtered list: `Minecraft servers in Germany`. */
export function headingOf({ filters: { game, country, version, online }, tagName }: RankingQuery): string {
  const of = [game && gameName(game), tagName].filter(Boolean).join(' ');
  const words = [
    online ? onlineServers(of) : of ? t('{of} servers', { of }) : t('Game servers'),
    country && t('in {country}', { country: countryName(country) }),
    version && t('for version {version}', { version }),
  ];
  return words.filter(Boolean).join(' ');
}
