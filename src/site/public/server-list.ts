import { whyNotProbed } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Sort } from '../../ranking/sorts.ts';
import type { ListingPause } from '../../servers/listing-pause.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { country } from '../shared/flags.ts';
import { count, counted, day, dayText, decimal, oneDecimal, relative, unit } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { playersText, reportedMark } from '../shared/server-figures.ts';
import {
  addressToCopy,
  miniServer,
  playersBar,
  premiumMark,
  rankMark,
  voteLink,
} from '../shared/server-parts.ts';
import { bannerLink, serverIcon } from '../shared/server-pictures.ts';
import { sparkline } from '../shared/sparkline.ts';
import { writtenLine } from '../shared/written-text.ts';
import { star } from './star.ts';

/** The server's page shows all. */
const SHOWN_TAGS = 3;

const ON_PODIUM = 3;

type ServerListSettings = {
  base: string;
  config: Pick<Config, 'WEB_VOTES'>;
  now: Date;
  tags: Tag[];
  /** Only the first page of a ranking has one. */
  hasPodium?: boolean;
  /** Each server shows the figure by which the list is ordered. */
  sort?: Sort;
  /** Empty when nobody is signed in. The page must contain a `starForm`. */
  favourites: Set<string>;
};

/** The stylesheet shows the same HTML as a podium, as rows or as a compact list. */
export function serverList(rows: ListedRow[], settings: ServerListSettings): Html {
  const { hasPodium } = settings;
  // scripts/page.js shows this text instead of “Vote” if this browser voted for the server within the cooldown.
  const voted = t('Voted today');
  return html`<ol class="${hasPodium ? 'servers podium' : 'servers'}" data-voted-text="${voted}">${rows.map(
    (row, place) => serverItem(row, place, settings),
  )}</ol>`;
}

/** scripts/page.js remembers the choice. */
export function viewSwitch(): Html {
  const choice = (id: string, name: 'rows-3' | 'list', text: string, checked: Content) =>
    html`<label title="${text}"><input type="radio" name="list-view" id="list-${id}" ${checked} />${icon(name)}<span
      class="for-readers">${text}</span></label>`;
  return html`<fieldset class="view-switch"><legend class="for-readers">${t('View')}</legend>
    ${choice('cards', 'rows-3', t('Cards'), html`checked`)}
    ${choice('compact', 'list', t('Compact list'), '')}</fieldset>`;
}

function serverItem(row: ListedRow, place: number, settings: ServerListSettings): Html {
  const { base, config, favourites, hasPodium } = settings;
  const vote = voteLink(base, config, row, { now: settings.now });
  const isOnPodium = hasPodium && place < ON_PODIUM;
  const classes = ['server', isOnPodium ? 'medal' : '', row.status === 'offline' ? 'down' : ''].filter(
    Boolean,
  );
  const starOf = star(base, { ...row, isFavourite: favourites.has(row.id) });
  const line = row.shortText ? html`<p class="line" dir="auto">${writtenLine(row.shortText)}</p>` : '';
  return html`<li class="${classes.join(' ')}">
    ${bannerLink(base, row, place === 0 ? 'eager' : 'lazy')}${serverIcon(base, row, 64)}
    ${rankMark(row.rank, row.votesCount)}
    <div class="what"><div class="name"><h3><a href="${base}/servers/${row.slug}"><bdi>${row.name}</bdi></a></h3>
    ${ratingOrNew(row)}${starOf}</div>
    ${line}${meta(base, row)}${tagLinks(row, settings)}</div>
    ${players(row, settings.now)}<div class="trend">${trend(row.players)}</div>
    <p class="votes">${figure(row, settings.sort)}</p>
    <p class="acts">${addressToCopy(row)}${vote}</p></li>`;
}

function ratingOrNew({ rating, isNewcomer }: ListedRow): Content {
  if (rating) {
    const average = html`<span class="for-readers">${t('Rating')} </span>${oneDecimal(rating.average)}`;
    return html`<span class="stars">${icon('star', 'solid')}${average}</span>`;
  }
  return isNewcomer ? html`<b class="new">${t('New')}</b>` : '';
}

function meta(base: string, { game, countryCode, version, isPremium }: ListedRow): Content {
  const parts = [
    isPremium && premiumMark(base),
    countryCode && country(base, countryCode),
    (game || version) && html`<span class="version">${gameName(game)} <bdi>${version}</bdi></span>`,
  ].filter(Boolean);
  return parts.length > 0 ? html`<p class="meta">${parts}</p>` : '';
}

function tagLinks({ tags: keys }: ListedRow, { base, tags }: ServerListSettings): Content {
  const shown = tags.filter(({ key }) => keys.includes(key)).slice(0, SHOWN_TAGS);
  if (shown.length === 0) return '';
  const link = ({ key, name }: Tag) =>
    html`<li><a href="${base}/tags/${key}" title="${name}">${name}</a></li>`;
  return html`<ul class="tags">${shown.map(link)}</ul>`;
}

function players(row: ListedRow, now: Date): Html {
  if (row.listingPause)
    return html`<p class="state unk">${icon('pause')}<span>${t('Paused')} ${pauseReturn(row.listingPause)}</span></p>`;
  const { status, game, lastSeenAt, playersHidden, onlinePlayers, maxPlayers, source } = row;
  if (status === 'offline') {
    const seen = lastSeenAt
      ? html`<small>${t('seen {when}', { when: relative(lastSeenAt, now) })}</small>`
      : '';
    return html`<p class="state off">${icon('plug-zap')}<span>${t('Offline')} ${seen}</span></p>`;
  }
  if (status === 'unknown') {
    const text = whyNotProbed(game) === null ? t('No answer now') : t('Not checked');
    return html`<p class="state unk">${icon('circle-help')}<span>${text}</span></p>`;
  }
  if (playersHidden)
    return html`<p class="state hid">${icon('eye-off')}<span>${t('Players hidden')}</span></p>`;
  const most = maxPlayers > 0 ? t('of {maxPlayers}', { maxPlayers: count(maxPlayers) }) : '';
  const word = source === 'reports' ? reportedMark() : html`<span>${t('playing')}</span>`;
  const bar = playersBar(onlinePlayers, maxPlayers);
  return html`<div class="players"><p><b>${count(onlinePlayers)}</b> ${most} ${word}</p>${bar}</div>`;
}

/** `back 24 Dec 2026`; nothing without a date. */
function pauseReturn({ until }: ListingPause): Content {
  return until ? html`<small>${t('back {day}', { day: dayText(until) })}</small>` : '';
}

/** The figure by which the list is ordered. If the order is by rank or by players: the votes. */
function figure({ votesCount, rankVotes, listedAt, rating, probedUptime }: ListedRow, sort: Sort = 'rank') {
  switch (sort) {
    case 'newest':
      return t('Listed {day}', { day: html`<b>${day(listedAt)}</b>` });
    case 'rating':
      return rating
        ? html`<b>${decimal(rating.average)}</b> ${t('of 5')} (${counted(rating.reviews, 'review')})`
        : t('no reviews');
    case 'uptime':
      return probedUptime === null ? t('not known') : html`<b>${decimal(probedUptime)} %</b> ${t('online')}`;
    default: {
      const forRank = t('{votes} for the rank', { votes: decimal(rankVotes) });
      const weighed = rankVotes === votesCount ? '' : html` <small>${forRank}</small>`;
      return html`<b>${count(votesCount)}</b> ${unit(votesCount, 'vote')}${weighed}`;
    }
  }
}

/** `players` has one value per day, oldest first. */
function trend(players: (number | null)[]): Html {
  if (players.every((value) => value === null))
    return html`<span class="soft">–<span class="for-readers"> ${t('not known yet')}</span></span>`;
  const numbers = players
    .map((value) => (value === null ? t('unknown') : count(Math.round(value))))
    .join(', ');
  return sparkline(t('Players on average, day by day: {numbers}', { numbers }), players);
}

export const playersOf = (row: ListedRow): string => playersText({ ...row, playersSource: row.source });

export function similarCards(
  base: string,
  similar: ListedRow[],
  actionOf?: (row: ListedRow) => Content,
): Html {
  const card = (row: ListedRow) =>
    miniServer(base, row, [playersOf(row), gameName(row.game)], actionOf?.(row));
  return html`<ul class="minis">${similar.map(card)}</ul>`;
}
