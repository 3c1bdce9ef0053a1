import { whyNotProbed } from '../../games/games.ts';
import { joinSteps } from '../../games/join-steps.ts';
import { t } from '../../language/t.ts';
import { writtenLink } from '../../platform/written-link.ts';
import { LINKS, type LinkName } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import type { Site } from '../shared/decorate-site.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { count, day, localTime, relative, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { goalPart } from '../shared/goal-parts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type IconName, icon } from '../shared/icon.ts';
import { motdPanel } from '../shared/motd.ts';
import { LINK_TITLES } from '../shared/profile-parts.ts';
import { reportedMark } from '../shared/server-figures.ts';
import { copyAddress, playersBar } from '../shared/server-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { EDITION_NAMES, type ShownAddress, shownAddresses } from '../shared/server-status.ts';
import { writtenText } from '../shared/written-text.ts';
import type { Seen, View } from './server-page-data.ts';
import { oneVote, voteForm } from './vote-form.ts';

/** The column that stays visible on wide screens. */
export function joinColumn(site: Site, view: View): Html {
  const { server, seen, voting } = view;
  const form = voteForm(site, { ...voting, server, typed: UNTOUCHED, now: seen.now });
  return html`<aside class="join" aria-label="${t('Join and vote')}">
    <section class="box" id="join">
      <h2 class="for-readers">${t('Players now')}</h2>
      ${playersNow(server, seen)}
      ${addressBoxes(server)}
      <div class="voting" id="vote"><h2 class="for-readers">${t('Vote')}</h2>
        ${seen.goal ? goalPart(seen.goal) : ''}
        ${whyOff(voting.config, server, seen.now) ? '' : votedHere(site, server)}
        <div class="to-vote">${form}${howToVote(server)}</div></div>
    </section>
    ${howToJoin(server, seen)}
    ${factsBox(server, seen)}
  </aside>`;
}

/**
 * The page is the same for all visitors, so this part is hidden until scripts (theme.js, vote.js) show it instead of
 * the form. The link has an empty `username`, so that the vote page does not fill in the remembered name.
 */
function votedHere({ base }: Site, server: Server): Html {
  const time = t('You voted here; next vote in <b>{time}</b> hours.', {
    b: (text: Html) => html`<b data-left>${text}</b>`,
    time: '24:00',
  });
  const other = html`<a href="${base}${publicPath(server, '/vote?username=')}">${t('Vote as another player')}</a>`;
  return html`<div class="voted-here" hidden><p>${icon('check')} ${time}</p><p class="small">${other}</p></div>`;
}

function addressBoxes(server: Server): Html {
  const boxes = shownAddresses(server).map(({ edition, text }) => {
    const heading = edition ? html`<h3>${t(EDITION_NAMES[edition].name)}</h3>` : '';
    return html`<div class="addr">${heading}<code dir="ltr">${text}</code>
        <p>${copyAddress(text, server.name, edition ?? undefined)}</p></div>`;
  });
  return html`${boxes}`;
}

function playersNow(server: Server, seen: Seen): Html {
  const { status, playersHidden, onlinePlayers, maxPlayers, playersSource, lastCheckedAt } = seen.info;
  if (seen.info.listingPause) return html`<p class="now-state">${icon('pause')} ${t('Paused')}</p>`;
  if (status === 'offline') {
    return html`<p class="now-state off">${icon('zap')} ${t('Offline')}</p>${lastSeen(server, seen)}`;
  }
  if (status === 'unknown') {
    const text = whyNotProbed(server.game) ? t('Not probed') : t('Status unknown');
    return html`<p class="now-state">${icon('circle-help')} ${text}</p>${lastSeen(server, seen)}`;
  }
  if (playersHidden) {
    return html`<p class="now-state">${icon('eye-off')} ${t('Online, players hidden')}</p>`;
  }
  // If no probe and no report has stated a number of players yet: only the status is shown.
  if (lastCheckedAt === null) return html`<p class="now-state">${t('Online')}</p>`;
  const b = (text: Html) => html`<b>${text}</b>`;
  const players = count(onlinePlayers);
  const text =
    maxPlayers > 0
      ? t('<b>{players}</b> of {most} playing', { b, players, most: count(maxPlayers) })
      : t('<b>{players}</b> playing', { b, players });
  const reported = playersSource === 'reports' ? html` ${reportedMark()}` : '';
  return html`<p class="now">${text}${reported}</p>${playersBar(onlinePlayers, maxPlayers)}`;
}

function lastSeen(
  { game, probe, lastReport }: Server,
  { info: { status, uptimePercentage }, now }: Seen,
): Html {
  const [last] = [probe.succeededAt, lastReport?.at]
    .filter((at) => at instanceof Date)
    .toSorted((a, b) => b.getTime() - a.getTime());
  const since = probe.offlineSince;
  const parts = [
    status === 'offline' &&
      since &&
      t('Offline since {time} ({ago}).', { time: localTime(since), ago: relative(since, now) }),
    last
      ? t('Last seen online {time}.', { time: localTime(last) })
      : // Imported figures can show an uptime although no check of this listing has reached the server.
        whyNotProbed(game) === null && !uptimePercentage && t('Not seen online yet.'),
    notProbed(game),
  ].filter(Boolean);
  return html`<p class="small soft last-seen">${parts.map((part) => html`${part} `)}</p>`;
}

function notProbed(game: string | null | undefined): Content {
  const reason = whyNotProbed(game);
  return reason === null
    ? ''
    : t('We do not check {game} servers: {reason}. The status comes from the server’s own reports.', {
        game: gameName(game),
        reason,
      });
}

function howToVote({ howToVote }: Server): Html {
  return howToVote
    ? html`<div class="small soft">${writtenText(howToVote)}</div>`
    : html`<p class="small soft">${oneVote()}</p>`;
}

function howToJoin(server: Server, { info }: Seen): Html {
  const panel = motdPanel(info.motd);
  const [first, second] = shownAddresses(server);
  if (first && second) {
    return html`<section class="box">
    <h2>${t('How to join')}</h2>
    ${[first, second].map(editionSteps)}
    ${panel ? html`<h3>${t('Message of the day')}</h3>${panel}` : ''}
  </section>`;
  }
  const { steps, link } = joinSteps(server);
  return html`<section class="box">
    <h2>${t('How to join')}</h2>
    ${link ? html`<p><a class="button quiet" href="${link}">${icon('play')}${t('Join through Steam')}</a></p>` : ''}
    <ol class="join-steps">${steps.map((step) => html`<li>${t(step)}</li>`)}</ol>
    ${panel ? html`<h3>${t('Message of the day')}</h3>${panel}` : ''}
  </section>`;
}

function editionSteps({ edition, game, place }: ShownAddress): Html {
  const { address, port } = place;
  const { steps } = joinSteps({ game, address, port });
  return html`<h3>${edition ? t(EDITION_NAMES[edition].name) : ''}</h3>
    <ol class="join-steps">${steps.map((step) => html`<li>${t(step)}</li>`)}</ol>`;
}

const LINK_ICONS: Record<LinkName, IconName> = {
  website: 'globe',
  discord: 'message-circle',
  store: 'tag',
  rules: 'list',
  video: 'video',
};

function factsBox({ profile, game }: Server, { info, now }: Seen): Html {
  const links = LINKS.flatMap((name) => {
    const link = writtenLink(profile?.[name] ?? '');
    return link ? [[LINK_ICONS[name], t(LINK_TITLES[name]), ownLink(link)] as const] : [];
  });
  const checked = info.lastCheckedAt
    ? timeAgo(info.lastCheckedAt, now)
    : whyNotProbed(game) === null && t('not checked yet');
  const rows: (readonly [IconName, string, Content])[] = [
    ...links,
    ['calendar-plus', t('Listed since'), day(info.listedAt)],
    ['clock', t('Last checked'), checked],
  ];
  return html`<dl class="box about-facts">${rows
    .filter(([, , value]) => value)
    .map(([name, title, value]) => html`<div><dt>${icon(name)} ${title}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The whole host in ASCII, and the beginning of the rest. */
function ownLink({ href, host, pathname, search, hash }: URL): Html {
  const rest = `${pathname}${search}${hash}`.replace(/\/$/, '');
  const shown = `${host}${rest.length > 24 ? `${rest.slice(0, 23)}…` : rest}`;
  return html`<a href="${href}" rel="nofollow ugc noopener noreferrer"><bdi>${shown}</bdi></a>`;
}
