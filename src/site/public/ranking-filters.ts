import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import { SORTS, type Sort } from '../../ranking/sorts.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { countryName } from '../shared/country-names.ts';
import { count } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { type RankingQuery, rankingPath } from './ranking-query.ts';

/** The display names of values. */
const NAMES = {
  game: gameName,
  country: countryName,
  version: (version: string) => t('version {version}', { version }),
  online: () => t('online now'),
  tag: (tag: string) => tag,
} as const;

type FilterName = keyof typeof NAMES;

const FILTERS = Object.keys(NAMES) as FilterName[];

/** On a phone, a button opens the form as a sheet, without a script. */
export function rankingFilterForm(base: string, query: RankingQuery, summary: ListingSummary, tags: Tag[]) {
  const { q, filters, sort } = query;
  const { game, country, online, tag } = filters;
  const active = FILTERS.filter((name) => filters[name]).length;
  const words = html`<span class="for-readers">${t('{active} set', { active: count(active) })}</span>`;
  const counter = active ? html`<b class="count" aria-hidden="true">${count(active)}</b>${words}` : '';
  return html`<button class="quiet filter-open" type="button" popovertarget="filters">${icon('sliders-horizontal')}<span
      class="word">${t('Filters')}</span> ${counter}</button>
    <form method="get" action="${base}/" class="list-filters" id="filters" popover aria-label="${t('Filters')}">
    <p class="sheet-head"><b>${t('Filters')}</b><button class="quiet" type="button" popovertarget="filters"
      popovertargetaction="hide" aria-label="${t('Close')}">${icon('x')}</button></p>
    ${chip('game', t('Game'), game, options(t('Any game'), summary.games.slice(0, MOST_OPTIONS), game, gameName))}
    ${versionChip(query, summary)}
    ${chip('tag', t('Tag'), tag, [['', t('Any tag')], ...tags.map(({ key, name }): Option => [key, name])])}
    ${
      tag
        ? unavailable('country', t('Country'), t('Not with a tag'))
        : chip(
            'country',
            t('Country'),
            country,
            options(t('Any country'), summary.countries, country, countryName),
          )
    }
    <label class="chip toggle"><input type="checkbox" name="online" value="yes" ${online ? html`checked` : ''} />${icon(
      'check',
    )}${t('Online now')}</label>
    ${sort === 'rank' ? '' : hidden('sort', sort)}${q ? hidden('q', q) : ''}
    <button type="submit" class="show">${t('Show')}</button></form>`;
}

/** A filter offers at most this many games. The page of all games has the others. */
const MOST_OPTIONS = 60;

type Option = [value: string, text: string];

function chip(name: string, label: string, value: string | undefined, choices: Option[]): Html {
  const option = ([key, text]: Option) =>
    html`<option value="${key}" ${key === (value ?? '') ? html`selected` : ''}>${text}</option>`;
  return html`<span class="${value ? 'chip set' : 'chip'}"><select name="${name}" aria-label="${label}">${choices.map(
    option,
  )}</select></span>`;
}

/** For a filter that cannot be combined with the chosen ones. */
function unavailable(name: string, label: string, why: string): Html {
  return html`<span class="chip"><select name="${name}" aria-label="${label}" disabled><option
    value="">${why}</option></select></span>`;
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

function versionChip({ filters: { game, version, tag } }: RankingQuery, summary: ListingSummary): Content {
  if (!game) return '';
  if (tag) return unavailable('version', t('Version'), t('Not with a tag'));
  const value = version && `${game}:${version}`;
  return chip('version', t('Version'), value, versionOptions(summary, game, version));
}

/** Hidden fields repeat the current filters, so that a search does not remove them. */
export function searchForm(base: string, { q, filters }: Pick<RankingQuery, 'q' | 'filters'>): Html {
  const kept = FILTERS.filter((name) => filters[name]).map((name) =>
    hidden(name, name === 'online' ? 'yes' : String(filters[name])),
  );
  return html`<form class="find" role="search" method="get" action="${base}/"><label class="for-readers"
    for="q">${t('Search servers')}</label>${icon('search')}<input id="q" type="search" name="q" value="${q}"
    placeholder="${t('Name, tag or address')}" maxlength="100" spellcheck="false" autocomplete="off" />${kept}<button
    type="submit">${t('Search')}</button></form>`;
}

const SORT_NAMES: Record<Sort, Text> = {
  rank: defineMessage('Top'),
  players: defineMessage('Players'),
  newest: defineMessage('Newest'),
  rating: defineMessage('Rating'),
  uptime: defineMessage('Uptime'),
};

export function sortTabs(base: string, query: RankingQuery): Html {
  const link = (sort: Sort) => {
    const path = `${base}${rankingPath({ ...query, sort, page: 1 })}`;
    const current = sort === query.sort ? html`aria-current="true"` : '';
    return html`<a href="${path}" ${current}>${t(SORT_NAMES[sort])}</a>`;
  };
  return html`<nav class="sort-tabs" aria-label="${t('Sort by')}">${SORTS.map(link)}</nav>`;
}

function options(
  any: string,
  choices: Choice[],
  chosen: string | undefined,
  nameOf: (value: string) => string,
): Option[] {
  const named = withChosen(choices, chosen)
    .map(({ value, servers }) => ({ value, servers, name: nameOf(value) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  return [
    ['', any],
    ...named.map(({ value, servers, name }): Option => [value, `${name} (${count(servers)})`]),
  ];
}

/** Newest first. A value names its game (`minecraft:1.21`): with another game, it is ignored. */
function versionOptions(
  { gameVersions = {} }: ListingSummary,
  game: string,
  chosen: string | undefined,
): Option[] {
  const choices = Object.entries(gameVersions).find(([id]) => id === game)?.[1] ?? [];
  const numbers = (version: string) => version.split('.').map(Number);
  const sorted = withChosen(choices, chosen).toSorted((a, b) => {
    const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [numbers(a.value), numbers(b.value)];
    return majorB - majorA || minorB - minorA;
  });
  return [
    ['', t('Any version')],
    ...sorted.map(({ value, servers }): Option => [`${game}:${value}`, `${value} (${count(servers)})`]),
  ];
}

/** `choices` has only the most frequent values. */
function withChosen(choices: Choice[], chosen: string | undefined): Choice[] {
  const isThere = !chosen || choices.some(({ value }) => value === chosen);
  return isThere ? choices : [...choices, { value: chosen, servers: 0 }];
}

/** Links to the list without one of the filters, or without the search. */
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
      return html`<li><a href="${base}${path}">${does}<span>${text}</span> ${icon('x')}</a></li>`;
    })}
    ${dropped.length > 1 ? html`<li><a href="${base}/" class="all">${t('All servers')}</a></li>` : ''}
  </ul>`;
}

const onlineServers = (of: string) => (of ? t('Online {of} servers', { of }) : t('Online servers'));

/** `Minecraft servers in Germany` */
export function headingOf({ filters: { game, country, version, online }, tagName }: RankingQuery): string {
  const of = [game && gameName(game), tagName].filter(Boolean).join(' ');
  const words = [
    online ? onlineServers(of) : of ? t('{of} servers', { of }) : t('Game servers'),
    country && t('in {country}', { country: countryName(country) }),
    version && t('for version {version}', { version }),
  ];
  return words.filter(Boolean).join(' ');
}
