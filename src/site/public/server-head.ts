import { whyNotProbed } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { country } from '../shared/flags.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { count, counted, day, dayText, decimal, localTime, relative, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { motdPanel } from '../shared/motd.ts';
import { card, copyable, facts, figure } from '../shared/parts.ts';
import { aboutBody, bannerImage, hasAbout, iconImage, tagChips } from '../shared/profile-parts.ts';
import { serverFigures } from '../shared/server-figures.ts';
import { publicPath } from '../shared/server-paths.ts';
import { addressOf, statusBadge } from '../shared/server-status.ts';
import type { Site } from '../shared/site-settings.ts';
import { writtenText } from '../shared/written-text.ts';
import { gamePath } from './ranking-query.ts';
import { premiumMark } from './ranking-table.ts';
import type { Seen, View } from './server-view.ts';
import { star, starForm } from './star.ts';
import { voteForm } from './vote-form.ts';

/** The head of a server's page: what it is, how to join and vote, and its key figures. */
export function serverHead(site: Site, view: View): Html {
  const { server, seen, reader, voting } = view;
  const { base } = site;
  const { info, found, now } = seen;
  const { banner, icon } = server.profile ?? {};
  const dashboard = reader?.dashboard
    ? html`<a href="${serverPath(base, server)}">${t('Dashboard')}</a>`
    : '';
  return html`${banner ? bannerImage(base, banner, server.name) : ''}<div class="page-head">
      <div class="with-icon">${iconImage(base, icon)}<div>
        <h1><bdi>${server.name}</bdi></h1>
        ${about(base, server, seen)}${introduction(base, server, seen)}${lastSeen(server, seen)}
      </div></div>
      <div class="actions">
        ${favouriteStar(site, view)}${dashboard}
        <span class="soft small">${checkedText(server, seen)}</span>${statusBadge(server, now)}
      </div>
    </div>
    <div class="columns even">
      ${card({
        id: 'join',
        title: t('How to join'),
        body: html`${copyable(addressOf(server), t('the address'))}${motdPanel(info.motd)}`,
      })}
      ${card({
        id: 'vote',
        title: t('Vote'),
        body: html`${voteForm(site, { ...voting, server, typed: UNTOUCHED })}${howToVote(server)}`,
      })}
    </div>
    ${aboutCard(server)}
    <section class="card">
      ${serverFigures(info, { game: server.game, more: ratingFigure(found) })}
      ${moreFacts(seen)}
    </section>`;
}

/** When our own check last reached the server. Empty if its game cannot be checked. */
function checkedText({ game }: Server, { info: { lastCheckedAt }, now }: Seen): Content {
  if (lastCheckedAt) return t('checked {time}', { time: timeAgo(lastCheckedAt, now) });
  return whyNotProbed(game) ? '' : t('not checked yet');
}

/** The button that makes the server a favourite. Visitors sign in first. */
function favouriteStar(site: Site, { server, reader }: View): Content {
  const isFavourite = reader?.isFavourite ?? false;
  if (server.hiddenAt && !isFavourite) return '';
  return html`${starForm(`${site.base}${publicPath(server)}`)}${star(
    site,
    { ...server, id: server._id.toHexString(), isFavourite },
    t('Favourite'),
  )}`;
}

/** The game and country of the server, if known. */
function about(base: string, server: Server, { info: { countryCode, isPremium } }: Seen): Content {
  const { game } = server;
  const parts = [
    game && html`<a href="${base}${gamePath(game)}">${gameName(game)}</a>`,
    countryCode !== 'ZZ' && country(base, countryCode),
    isPremium && premiumMark(base),
    ownershipMark(server),
  ].filter(Boolean);
  return parts.length > 0 ? html`<p class="about">${parts}</p>` : '';
}

/** The mark of a proven ownership, and how it was proven. */
function ownershipMark({ ownerId, proof }: Server): Content {
  if (!ownerId || !proof) return '';
  const { how, text } =
    proof.method === 'operator'
      ? { how: t('An operator of this listing confirmed the owner'), text: t('Owner confirmed') }
      : { how: t('The owner showed control of this server'), text: t('Ownership proven') };
  return html`<span class="proven" title="${how} (${dayText(proof.at)}).">${text}</span>`;
}

/** Since when a server is offline, and when it was last online. Empty while it is online. */
function lastSeen({ game, probe, lastReport }: Server, { info: { status }, now }: Seen): Content {
  if (status === 'online') return '';
  const [last] = [probe.succeededAt, lastReport?.at]
    .filter((at) => at instanceof Date)
    .toSorted((a, b) => b.getTime() - a.getTime());
  const parts = [
    status === 'offline' &&
      probe.offlineSince &&
      html`${t('Offline since {time} ({ago}).', {
        time: localTime(probe.offlineSince),
        ago: relative(probe.offlineSince, now),
      })}`,
    last
      ? html`${t('Last seen online {time}.', { time: localTime(last) })}`
      : whyNotProbed(game) === null && t('Not seen online yet.'),
    notProbed(game),
  ].filter(Boolean);
  return html`<p class="small soft last-seen">${parts.map((part) => html`${part} `)}</p>`;
}

/** Why this listing does not check servers of this game. Empty if it does. */
function notProbed(game: string | null | undefined): Content {
  const reason = whyNotProbed(game);
  return reason === null
    ? ''
    : t('We do not check {game} servers: {reason}. The status comes from the server’s own reports.', {
        game: gameName(game),
        reason,
      });
}

/** The server's short text and its tags. */
function introduction(base: string, { profile }: Server, { tags }: Seen): Content {
  const { shortText, tags: keys } = profile ?? {};
  return html`${shortText ? html`<p class="short-text" dir="auto">${shortText}</p>` : ''}${tagChips(base, keys, tags)}`;
}

function aboutCard({ profile }: Server): Content {
  return profile && hasAbout(profile)
    ? card({ id: 'about', title: t('About'), body: aboutBody(profile) })
    : '';
}

function howToVote({ howToVote }: Server): Html {
  return howToVote
    ? writtenText(howToVote)
    : html`<p class="small soft">${t('Each player has one vote for a server in 24 hours.')}</p>`;
}

function ratingFigure({ total, averageRating }: Seen['found']): Html {
  if (total === 0) return figure(t('Rating'), '–', t('no reviews yet'));
  return figure(
    t('Rating'),
    html`${decimal(averageRating)}<span class="of">${t('of 5')}</span>`,
    html`<a href="#reviews">${counted(total, 'review')}</a>`,
  );
}

function moreFacts({ info }: Seen): Html {
  return html`<div class="facts-aside">${facts([
    [t('Version'), info.version && html`<bdi>${info.version}</bdi>`],
    [
      t('Players in 7 days'),
      info.peakPlayers > 0 &&
        t('{average} on average, {peak} at the peak', {
          average: playersOnAverage(info.averagePlayers),
          peak: count(info.peakPlayers),
        }),
    ],
    [t('Votes this month'), count(info.monthlyVotes)],
    [t('Latency'), latencyText(info.latencyMs, info.averageLatency)],
    [t('Listed since'), day(info.listedAt)],
  ])}</div>`;
}

/** The average number of players. Only small numbers have decimals. */
function playersOnAverage(players: number): string {
  return players < 10 ? decimal(players) : count(Math.round(players));
}

function latencyText(now: number | null, average: number | null): Content {
  const texts = [
    now === null ? '' : `${count(Math.round(now))} ms`,
    average === null ? '' : t('{average} ms on average in 30 days', { average: count(Math.round(average)) }),
  ];
  return texts.filter(Boolean).join(', ');
}
