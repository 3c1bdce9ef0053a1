import { type Filters, listKey, NO_GAME_LIST } from './filters.ts';
import type { Choice, ListingSummary } from './ranked-list.ts';
import type { ListInProgress } from './replace-lists.ts';

/** For countries and versions. */
const MOST_CHOICES = 60;
const MOST_TAGS = 200;
/** More than gamedig has. */
const MOST_GAMES = 500;
const MOST_GAME_VERSIONS = 30;
/** The most related values, such as the countries of one game. */
const MOST_RELATED = 8;

type ListTotals = ReadonlyMap<string, Pick<ListInProgress, 'total'>>;

/** The figures of the listing and the values to filter by, taken from the keys of the lists. */
export function summariseLists(
  lists: ListTotals,
  figures: Pick<ListingSummary, 'servers' | 'playing' | 'votes'>,
): ListingSummary {
  return {
    ...figures,
    online: lists.get(listKey({ online: true }))?.total ?? 0,
    games: choicesOf(lists, 'game', MOST_GAMES),
    withoutGame: lists.get(NO_GAME_LIST)?.total ?? 0,
    countries: choicesOf(lists, 'country', MOST_CHOICES),
    versions: choicesOf(lists, 'version', MOST_CHOICES),
    tags: choicesOf(lists, 'tag', MOST_TAGS),
    gameVersions: related(lists, /^f:game=(?<of>[^&]+)&version=(?<value>[^&]+)$/, MOST_GAME_VERSIONS),
    gameTags: related(lists, /^f:game=(?<of>[^&]+)&tag=(?<value>[^&]+)$/, MOST_RELATED),
    gameCountries: related(lists, /^f:game=(?<of>[^&]+)&country=(?<value>[^&]+)$/, MOST_RELATED),
    tagGames: related(lists, /^f:game=(?<value>[^&]+)&tag=(?<of>[^&]+)$/, MOST_RELATED),
  };
}

/** The values of the lists that have only this filter, the most frequent first. */
function choicesOf(lists: ListTotals, filter: Exclude<keyof Filters, 'online'>, most: number): Choice[] {
  const start = listKey({ [filter]: ' ' }).slice(0, -1);
  const choices = [...lists]
    .filter(([key]) => key.startsWith(start) && !key.includes('&'))
    .map(([key, { total }]) => ({ value: key.slice(start.length), servers: total }));
  return mostFrequent(choices, most);
}

/**
 * For each value of one filter, the most frequent values of another: for example, the countries of each game.
 *
 * @param shape - matches the keys of lists with two filters; its groups are `of` (a game) and `value` (a country)
 */
function related(lists: ListTotals, shape: RegExp, most: number): Record<string, Choice[]> {
  const found = new Map<string, Choice[]>();
  for (const [key, { total }] of lists) {
    const { of, value } = shape.exec(key)?.groups ?? {};
    if (of && value) found.set(of, [...(found.get(of) ?? []), { value, servers: total }]);
  }
  return Object.fromEntries([...found].map(([of, choices]) => [of, mostFrequent(choices, most)]));
}

function mostFrequent(choices: Choice[], most: number): Choice[] {
  return choices.toSorted((a, b) => b.servers - a.servers || (a.value < b.value ? -1 : 1)).slice(0, most);
}
