import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { ListingSummary } from '../../ranking/ranked-list.ts';
import { type ListPage, ROWS } from '../../ranking/read-lists.ts';
import { type SearchedAddress, searchedAddress } from '../../ranking/searched-address.ts';
import { ENOUGH_REVIEWS, type Sort } from '../../ranking/sorts.ts';
import { secondOf } from '../../servers/second-address.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import { PageError } from '../error-pages.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count, counted } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { gamePicture } from '../shared/game-pictures.ts';
import { pixelPicture } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { RankingQuery } from './ranking-query.ts';

/** In CSS pixels. */
const HEAD_PIXELS = 80;

export function noSuchGame(): PageError {
  return new PageError(404, defineMessage('There is no game at this address.'));
}

/** For search engines, which show it below the page's title. */
export function describe({ filters, sort, tagName }: RankingQuery, { rows, total }: ListPage, site: string) {
  const of = [filters.game && gameName(filters.game), tagName].filter(Boolean).join(' ');
  const what = of
    ? t('{total, plural, one {# {of} server} other {# {of} servers}}', { total, of })
    : counted(total, 'server');
  const named = filters.game || filters.tag ? rows.slice(0, 3).map((row) => row.name) : [];
  const where = isNarrowed(filters) && !of ? what : t('{what} on {site}', { what, site });
  const sentence = t('{where}, {order}, with players and status', { where, order: ORDERS[sort]() });
  if (named.length === 0) return `${sentence}.`;
  const names = named.join(', ');
  return `${sentence}: ${total > named.length ? t('{names} and more', { names }) : names}.`;
}

export function isNarrowed(filters: Filters): boolean {
  return Object.values(filters).some(Boolean);
}

/** Ends of a sentence: “12 servers, ranked by votes in 30 days”. */
const ORDERS: Record<Sort, () => string> = {
  rank: () => t('ranked by votes in {days} days', { days: RANKING_DAYS }),
  players: () => t('with the most players first'),
  newest: () => t('newest first'),
  rating: () =>
    t('best rated first; servers with fewer than {reviews} reviews follow', { reviews: ENOUGH_REVIEWS }),
  uptime: () => t('with the highest uptime in {days} days first, by our own checks', { days: UPTIME_DAYS }),
};

export function listSummary(
  { filters, sort }: RankingQuery,
  total: number,
  { servers, online }: ListingSummary,
): Content {
  const minutes = RANKS_EVERY_MINUTES;
  // The order is stored, the figures on the page are current.
  const remark = t('The order is up to {minutes} minutes old; the numbers are current.', { minutes });
  const order = `${ORDERS[sort]()}.${sort === 'players' ? ` ${remark}` : ''}`;
  if (isNarrowed(filters)) {
    const age = t('The filter “online” uses data up to {minutes} minutes old; the status shown is current.', {
      minutes,
    });
    return `${counted(total, 'server')}, ${order}${filters.online ? ` ${age}` : ''}`;
  }
  if (total === 0) return '';
  // If no server was listed yet when the summary was made, its figures are 0. They are not shown.
  const among = servers > 0 ? `, ${t('{online} online', { online: count(online) })}` : '';
  return `${counted(total, 'server')}${among}, ${order}`;
}

export function searchSummary(rows: ListedRow[], { q, filters }: RankingQuery): Content {
  const address = searchedAddress(q);
  const isOfAddress = address?.isCertain || rows[0]?.address === address?.host;
  if (address && isOfAddress) return addressSummary(rows, q, address, isNarrowed(filters));
  const named = t('“<bdi>{words}</bdi>”', { words: q });
  if (rows.length === 0) {
    return isNarrowed(filters)
      ? t('No server has a name, text or address like {named} and matches the filters.', { named })
      : t('No server has a name, text or address like {named}.', { named });
  }
  const narrowed = isNarrowed(filters) ? ` ${t('Filters apply to the best matches only.')}` : '';
  return html`${matches(rows.length, named)}${narrowed}`;
}

function matches(found: number, named: Html): Content {
  const rows = counted(found, 'server');
  if (found === 1) return t('{rows} with a name, text or address like {named}.', { rows, named });
  return found < ROWS
    ? t('{rows} with a name, text or address like {named}, best matches first.', { rows, named })
    : t('The {rows} best matches for {named} among names, texts and addresses.', { rows: ROWS, named });
}

/** The servers at this address, or else those of its host. */
function addressSummary(rows: ListedRow[], q: string, { port }: SearchedAddress, narrowed: boolean): Content {
  const named = t('“<bdi>{words}</bdi>”', { words: q });
  const [first] = rows;
  if (!first) {
    return narrowed
      ? t('No server has the address {named} and matches the filters.', { named })
      : t('No server has the address {named}.', { named });
  }
  const many =
    rows.length < ROWS ? counted(rows.length, 'server') : t('The {rows} best ranked servers', { rows: ROWS });
  return port === undefined || first.port === port || secondOf(first)?.port === port
    ? t('{many} with the address {named}.', { many, named })
    : t('No server has the address {named}. With another port at this host: {many}.', { many, named });
}

/** The head of the list of a game or tag, with its picture. */
export function aboutList(site: Site, { filters: { game, tag }, tagName = '' }: RankingQuery, total: number) {
  const number = total > 0 ? ` ${counted(total, 'server')}.` : '';
  if (game) {
    const of = { game: gameName(game) };
    const sentence = gameSentence(game) ?? t('{game} servers, ranked by the votes of players.', of);
    return { detail: `${sentence}${number}`, picture: gamePicture(site, game, HEAD_PIXELS) };
  }
  if (!tag) return { detail: number.trim(), picture: '' };
  const sentence = t('Servers that their owners tagged “{tag}”, ranked by the votes of players.', {
    tag: tagName,
  });
  return { detail: `${sentence}${number}`, picture: pixelPicture(tag, HEAD_PIXELS) };
}

/** By the game's id in gamedig. */
const SENTENCES: Record<string, Text> = {
  minecraft: defineMessage('Mine, build and survive in a world of blocks.'),
  mbe: defineMessage('The world of blocks for phones, consoles and Windows.'),
  minetest: defineMessage('Free voxel worlds with games and mods by their players.'),
  rust: defineMessage('Gather, build and raid on an island where nobody is safe.'),
  valheim: defineMessage('Viking survival for small groups: sail, build, and face the bosses.'),
  terrariatshock: defineMessage('Dig, fight and build in a world seen from the side.'),
  factorio: defineMessage('Automate a factory that never stops growing.'),
  satisfactory: defineMessage('Build factories in the first person on an alien planet.'),
  counterstrike2: defineMessage('Two teams, one bomb, and rounds of two minutes.'),
  csgo: defineMessage('The classic of tactical shooters: two teams and one bomb.'),
  css: defineMessage('The Source engine’s Counter-Strike, loved for surf and zombie maps.'),
  counterstrike16: defineMessage('The original Counter-Strike, still played every evening.'),
  teamfortress2: defineMessage('Nine classes, two teams, and a great many hats.'),
  garrysmod: defineMessage('A sandbox for whatever its players invent, from role play to Prop Hunt.'),
  ase: defineMessage('Tame dinosaurs, found a tribe and survive.'),
  asa: defineMessage('The remake of ARK: tame dinosaurs, found a tribe and survive.'),
  sdtd: defineMessage('Loot and build by day, and hold out on every seventh night.'),
  dayz: defineMessage('Scavenge and survive after an outbreak, among players you cannot trust.'),
  projectzomboid: defineMessage('Slow zombies, scarce food, and a story of how you died.'),
  palworld: defineMessage('Catch creatures, and let them fight and work for you.'),
  conanexiles: defineMessage('Survive, build and conquer in the lands of Conan.'),
  unturned: defineMessage('Zombie survival with simple looks and a lot of freedom.'),
  enshrouded: defineMessage('Explore, build and fight together in a land under a deadly fog.'),
  vrising: defineMessage('Live as a vampire: hunt at night, hide from the sun, raise a castle.'),
  squad: defineMessage('Large battles in which squads and their radios decide.'),
  arma3: defineMessage('Military simulation on large open maps.'),
  gta5f: defineMessage('Role play and races in Los Santos on servers of their own.'),
  gtasam: defineMessage('San Andreas together: role play, races and stunts.'),
};

function gameSentence(game: string): string | undefined {
  const sentence = new Map(Object.entries(SENTENCES)).get(game);
  return sentence && t(sentence);
}
