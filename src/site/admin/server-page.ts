import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { User } from '../../accounts/user.ts';
import { listenerReason } from '../../delivery/diagnosis/listener-reason.ts';
import { isProbed } from '../../games/games.ts';
import { playersHidden, playersSource } from '../../history/current-status.ts';
import { PLAYER_DAYS } from '../../history/daily-figures.ts';
import { inEnglish, type Text, t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import { lastDelivery, listenerState } from '../../listeners/listener-state.ts';
import { COUNTED } from '../../moderation/needs-attention.ts';
import { UNUSUAL_HOURS } from '../../moderation/unusual-votes.ts';
import { after } from '../../platform/clock.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { JUMP_SHOWN_MS } from '../../probing/players-jump.ts';
import { type RankDay, rankVotesByDay } from '../../ranking/evidence/rank-votes.ts';
import { ASSUMED_PLAYERS } from '../../ranking/evidence/weigh-day.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { filledParts } from '../../servers/moderate-server.ts';
import { LINKS, type ProfilePart } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { slugsOf } from '../../servers/server-slugs.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { OPEN_WORK } from '../../votes/vote.ts';
import { MOST_REPORTED_PLAYERS } from '../../votes/web/suspicion.ts';
import { OPERATOR } from '../route-options.ts';
import { tabsOf } from '../shared/area.ts';
import { SERVER_AREA } from '../shared/dashboard-pages.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { pageHead } from '../shared/deck.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { count, day, decimal, time, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { listenerBadge } from '../shared/listener-state-parts.ts';
import { badge, card, facts, notice } from '../shared/parts.ts';
import { pauseNotice } from '../shared/pause-parts.ts';
import { bannerImage, description, iconImage, PART_TEXTS } from '../shared/profile-parts.ts';
import { protocolName } from '../shared/protocol-choices.ts';
import { rankVotesTables } from '../shared/rank-votes-tables.ts';
import { publicPath } from '../shared/server-paths.ts';
import { addressesText } from '../shared/server-status.ts';
import { type AdminParts, adminPage, adminPath, stateBadges } from './admin-frame.ts';
import {
  actionsOf,
  allowForm,
  partTitle,
  profileRemovalForm,
  readServerOfPath,
  type ServerView,
  serverActions,
} from './server-actions.ts';

const MESSAGES = inEnglish({
  hidden: 'Server hidden. It leaves the ranking within seconds.',
  shown: 'Server listed again. It gets its rank with the next ranking.',
  'premium-on': 'The server is premium now.',
  'premium-off': 'The server is no longer premium.',
  transferred: 'Server transferred to its new owner.',
  resumed: 'Pause ended. The server is checked now.',
  removed: 'Server removed permanently.',
  'votes-allowed': 'Stored. The ranking is computed again within seconds.',
  'profile-part': 'Removed. The owner sees the reason.',
});

/** `/operator/servers/:serverId`: a listed or removed server. Its forms are in server-actions.ts. */
export function adminServerPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const show = async (request: FastifyRequest, typed: Typed): Promise<Page> => {
    const server = await readServerOfPath(deps, request);
    const { _id: serverId, ownerId } = server;
    const now = deps.clock.now();
    const open = { serverId, 'delivery.queuedAt': { $gt: new Date(0) } };
    const [owner, listener, waiting, rankDays] = await Promise.all([
      ownerId ? deps.users.findOne({ _id: ownerId }) : null,
      deps.listeners.findOne({ serverId }),
      deps.votes.countDocuments(open, { hint: OPEN_WORK, limit: COUNTED }),
      rankVotesByDay(deps, serverId, dayOf(now)),
    ]);
    const view = { base, server, now, typed };
    return adminPage({
      base,
      part: '/servers',
      title: server.name,
      messages: MESSAGES,
      head: pageHead({
        title: html`<bdi>${server.name}</bdi>`,
        actions: html`${stateBadges(server, now)}${ownLinks(view)}`,
      }),
      body: html`${remarks(view)}
        <div class="columns">
          ${card({ title: 'Details', body: serverFacts(view, owner) })}
          ${card({ title: 'Vote listener', body: listenerFacts(listener, waiting, now) })}
        </div>
        ${server.removedAt ? '' : card({ title: 'Actions', body: actionsOf(view) })}
        ${rankVotesCard(view, rankDays)}
        ${server.removedAt ? '' : card({ title: 'Owner’s pages', body: ownersLinks(view) })}
        ${profileCard(view)}`,
    });
  };
  app.get('/servers/:serverId', OPERATOR, async (request, reply) =>
    sendPage(request, reply, await show(request, UNTOUCHED)),
  );
  serverActions(app, deps, show);
}

function remarks({ server, now }: ServerView): Content {
  const { hiddenAt, hiddenReason, hiddenInternalReason, playersDiffer, playersJumped, unusualVotes } = server;
  const pause = pauseAt(server, now);
  const internal = hiddenInternalReason ? html` Internal: “<bdi>${hiddenInternalReason}</bdi>”` : '';
  return [
    pause && pauseNotice(pause),
    hiddenAt &&
      notice(
        'attention',
        html`Hidden ${timeAgo(hiddenAt, now)}: “<bdi>${hiddenReason}</bdi>” The owner sees this reason.${internal}`,
      ),
    unusualVotes &&
      notice(
        'attention',
        `Unusual votes: ${count(unusualVotes.votes)} votes in ${UNUSUAL_HOURS} hours (${count(unusualVotes.web ?? 0)} on the pages), and ${count(unusualVotes.players)} players. More than ${ASSUMED_PLAYERS} players count up to twice the usual number, reported ones up to ${MOST_REPORTED_PLAYERS}.`,
      ),
    playersJumped &&
      playersJumped.at > after(now, -JUMP_SHOWN_MS) &&
      notice(
        'attention',
        html`Players jumped: our check found ${count(playersJumped.players)} players instead of the usual
          ${decimal(playersJumped.usual)} (${timeAgo(playersJumped.at, now)}).`,
      ),
    playersDiffer &&
      notice(
        'attention',
        html`Player counts differ: the server reported ${count(playersDiffer.reported)} players,
          our check found ${count(playersDiffer.probed)} (${timeAgo(playersDiffer.at, now)}).`,
      ),
  ];
}

function serverFacts({ base, server, now }: ServerView, owner: User | null): Html {
  const { current, daily, ranked } = server;
  const reported = playersSource(server) === 'reports' ? ' reported' : '';
  const players = playersHidden(current)
    ? 'players hidden'
    : `${count(current.onlinePlayers)} of ${count(current.maxPlayers)}${reported}`;
  // A server that was listed today has no players yet: zeros could be wrong.
  const inDays = daily.peakPlayers
    ? `; in ${PLAYER_DAYS} days ${decimal(daily.averagePlayers)} on average, ${count(daily.peakPlayers)} at the peak`
    : '';
  const earlier = slugsOf(server).filter((slug) => slug !== server.slug);
  return facts([
    ['Owner', ownerText(base, server, owner)],
    ['Address', addressesText(server)],
    ['Game', `${gameName(server.game) || 'none'}${isProbed(server.game) ? '' : ' (not probed)'}`],
    ['Slug', html`<span class="mono">${server.slug}</span>`],
    ['Earlier slugs', earlier.length > 0 && html`<span class="mono">${earlier.join(', ')}</span>`],
    ['Id', html`<span class="mono">${server._id.toHexString()}</span>`],
    ['Listed', time(server.listedAt)],
    ['Removed', server.removedAt ? time(server.removedAt) : null],
    ['Rank', server.hiddenAt ? 'none while hidden' : count(server.rankPosition)],
    [`Votes in ${RANKING_DAYS} days`, ranked ? votesText(ranked) : 'not counted yet'],
    ['Players', `${players}${inDays}`],
    ['Last checked', current.checkedAt ? timeAgo(current.checkedAt, now) : 'never'],
  ]);
}

function votesText({ votesCount, rankVotes }: NonNullable<Server['ranked']>): string {
  if (typeof rankVotes !== 'number') return count(votesCount);
  return `${count(votesCount)} (${decimal(rankVotes)} for the rank)`;
}

function ownerText(base: string, { ownerEmail }: Server, owner: User | null): Content {
  if (owner) {
    const users = adminPath(base, `/users?search=${encodeURIComponent(owner.email)}`);
    const suspended = owner.suspendedAt ? html` ${badge('bad', 'suspended')}` : '';
    return html`<bdi>${owner.name}</bdi>, <a href="${users}">${owner.email}</a>${suspended}`;
  }
  return ownerEmail ? `${ownerEmail} (no account yet)` : 'none';
}

function listenerFacts(listener: Listener | null, waiting: number, now: Date): Html {
  if (!listener) return html`<p class="soft">No vote listener. Votes count and are not forwarded.</p>`;
  const state = listenerState(listener);
  const reason = listenerReason(listener);
  const { protocol, url, host, port } = listener;
  const last = lastDelivery(listener);
  const unconfirmedText = last?.confirmed === false ? ', not confirmed' : '';
  return facts([
    ['State', listenerBadge({ ...listener, state })],
    ['Since', reason && timeAgo(reason.since, now)],
    ['Reason', reason && t(reason.cause)],
    ['Listener’s answer', reason?.words && html`“<bdi>${reason.words}</bdi>”`],
    ['Detail', reason?.detail],
    ['How to fix it', reason && t(reason.advice)],
    ['Protocol', protocolName(protocol)],
    ['Address', html`<span class="mono">${url ?? hostAndPort(host, port)}</span>`],
    ['Votes waiting', waiting >= COUNTED ? `${count(COUNTED)} or more` : count(waiting)],
    ['Last delivery', last ? html`${timeAgo(last.at, now)}${unconfirmedText}` : 'none with these settings'],
  ]);
}

function ownLinks({ base, server }: ServerView): Html {
  const id = server._id.toHexString();
  return html`<a class="button quiet" href="${adminPath(base, `/votes?server=${id}`)}">Votes and exclusions</a>
    <a class="button quiet" href="${adminPath(base, `/audit?server=${id}`)}">Audit log</a>
    ${server.removedAt ? '' : html`<a class="button quiet" href="${base}${publicPath(server)}">Public page</a>`}`;
}

function ownersLinks({ base, server }: ServerView): Html {
  return html`<ul class="plain links">${tabsOf<Text>(SERVER_AREA).map(
    ({ path, tab }) => html`<li><a href="${serverPath(base, server, path)}">${t(tab)}</a></li>`,
  )}</ul>`;
}

function rankVotesCard(view: ServerView, days: RankDay[]): Html {
  const { server, now } = view;
  const { votes = 0, reason, by, at = now } = server.voteAllowance ?? {};
  const who = html`<bdi>${by}</bdi>, ${timeAgo(at, now)}`;
  const allowance =
    votes > 0 && html`<p>${count(votes)} votes a day need no evidence: “<bdi>${reason}</bdi>” (${who}).</p>`;
  return card({
    title: 'Votes for the rank',
    id: 'rank',
    body: html`${allowance}
      ${rankVotesTables(days)}
      ${server.removedAt ? '' : allowForm(view)}`,
  });
}

function profileCard(view: ServerView): Content {
  const { profile = {}, removedAt } = view.server;
  const parts = filledParts(profile);
  const removals = profile.removals ?? [];
  if (removedAt || (parts.length === 0 && removals.length === 0)) return '';
  return card({
    id: 'profile',
    title: 'Profile',
    body: html`${removals.map(
      ({ part, at, reason }) =>
        html`<p class="small soft">Removed on ${day(at)}: ${t(PART_TEXTS[part])}. “<bdi>${reason}</bdi>”</p>`,
    )}
      ${parts.map(
        (part) => html`<section>
          <h3>${partTitle(part)}</h3>
          ${partContent(view, part)}
        </section>`,
      )}
      ${parts.length > 0 ? profileRemovalForm(view, parts) : ''}`,
  });
}

function partContent({ base, server: { name, profile = {} } }: ServerView, part: ProfilePart): Content {
  const { banner, icon } = profile;
  if (part === 'shortText') return html`<p dir="auto">${profile.shortText}</p>`;
  if (part === 'description') return description(profile.description ?? '');
  if (part === 'banner') return banner ? bannerImage(base, banner, name) : '';
  if (part === 'icon') return iconImage(base, icon);
  // As text and not as links, so that an operator does not open an unknown site by accident.
  return html`<ul class="plain">${LINKS.map((link) => profile[link])
    .filter(Boolean)
    .map((address) => html`<li class="mono">${address}</li>`)}</ul>`;
}
