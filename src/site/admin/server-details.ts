import type { WithId } from 'mongodb';
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
import type { AppDeps } from '../../process/app-deps.ts';
import { rankVotesByDay } from '../../ranking/evidence/rank-votes.ts';
import { ASSUMED_PLAYERS } from '../../ranking/evidence/weigh-day.ts';
import type { Server } from '../../servers/server.ts';
import { slugsOf } from '../../servers/server-slugs.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { OPEN_WORK } from '../../votes/vote.ts';
import { MOST_REPORTED_PLAYERS } from '../../votes/web/suspicion.ts';
import { tabsOf } from '../shared/area.ts';
import { SERVER_AREA } from '../shared/dashboard-pages.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { count, decimal, time, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { listenerBadge } from '../shared/listener-state-parts.ts';
import { badge, button, card, facts, notice } from '../shared/parts.ts';
import { protocolName } from '../shared/protocol-choices.ts';
import { publicPath } from '../shared/server-paths.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import { profileModeration } from './profile-moderation.ts';
import { rankVotesCard } from './rank-votes-card.ts';
import { reasonFields } from './reason-fields.ts';
import { stateBadges } from './server-badges.ts';

const MESSAGES = inEnglish({
  hidden: 'Server hidden. It leaves the ranking within seconds.',
  shown: 'Server listed again. It gets its rank with the next ranking.',
  'premium-on': 'The server is premium now.',
  'premium-off': 'The server is no longer premium.',
  transferred: 'Server transferred to its new owner.',
  removed: 'Server removed permanently.',
  'votes-allowed': 'Stored. The ranking is computed again within seconds.',
  'profile-part': 'Removed. The owner sees the reason.',
});

type View = { base: string; server: WithId<Server>; now: Date; typed: Typed };

/** The admin page of a listed or removed server: its state, and the actions of operators. */
export async function serverPage(
  deps: AppDeps,
  base: string,
  server: WithId<Server>,
  typed: Typed,
): Promise<Page> {
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
  return {
    title: server.name,
    messages: MESSAGES,
    ...adminFrame({
      base,
      part: '/servers',
      head: html`<div class="page-head">
        <div>
          <p class="small"><a href="${adminPath(base, '/servers')}">Servers</a></p>
          <h1><bdi>${server.name}</bdi></h1>
        </div>
        <span class="actions">${stateBadges(server, now)}</span>
      </div>`,
      body: html`${remarks(view)}
        <div class="columns">
          ${card({ title: 'Details', body: serverFacts(view, owner) })}
          ${card({ title: 'Vote listener', body: listenerFacts(listener, waiting, now) })}
        </div>
        ${rankVotesCard({ ...view, days: rankDays })}
        ${profileModeration(view)}
        ${card({ title: 'Related pages', body: links(view) })}
        ${server.removedAt ? '' : card({ title: 'Actions', body: actions(view) })}`,
    }),
  };
}

function remarks({ server, now }: View): Content {
  const { hiddenAt, hiddenReason, hiddenInternalReason, playersDiffer, playersJumped, unusualVotes } = server;
  const internal = hiddenInternalReason ? html` Internal: “<bdi>${hiddenInternalReason}</bdi>”` : '';
  return [
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
  ].filter(Boolean) as Content;
}

function serverFacts({ base, server, now }: View, owner: User | null): Html {
  const { current, daily, ranked } = server;
  const reported = playersSource(server) === 'reports' ? ' reported' : '';
  const players = playersHidden(current)
    ? 'players hidden'
    : `${count(current.onlinePlayers)} of ${count(current.maxPlayers)}${reported}`;
  // If no day has players, for example because the server was listed today: show nothing, because zeros could be wrong.
  const inDays = daily.peakPlayers
    ? `; in ${PLAYER_DAYS} days ${decimal(daily.averagePlayers)} on average, ${count(daily.peakPlayers)} at the peak`
    : '';
  const earlier = slugsOf(server).filter((slug) => slug !== server.slug);
  return facts([
    ['Owner', ownerText(base, server, owner)],
    ['Address', html`<span class="mono">${hostAndPort(server.address, server.port)}</span>`],
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

/** Links to the admin lists of this server and to its owner's pages. */
function links({ base, server }: View): Html {
  const id = server._id.toHexString();
  const ownersLinks = tabsOf<Text>(SERVER_AREA).map(
    ({ path, tab }) => html`<li><a href="${serverPath(base, server, path)}">${t(tab)}</a></li>`,
  );
  return html`<div class="actions">
      <a class="button quiet" href="${adminPath(base, `/votes?server=${id}`)}">Votes and exclusions</a>
      <a class="button quiet" href="${adminPath(base, `/audit?server=${id}`)}">Audit log</a>
      ${server.removedAt ? '' : html`<a class="button quiet" href="${base}${publicPath(server)}">Public page</a>`}
    </div>
    ${server.removedAt ? '' : html`<p>Owner’s pages:</p><ul class="plain links">${ownersLinks}</ul>`}`;
}

function actions(view: View): Html {
  return html`<div class="actions top">
    ${premium(view)} ${hiding(view)} ${transfer(view)} ${removal(view)}
  </div>`;
}

function premium({ base, server }: View): Html {
  return button({
    to: adminServerPath(base, server, '/premium'),
    hidden: { premium: server.isPremium ? 'off' : 'on' },
    text: server.isPremium ? 'End premium' : 'Make premium',
  });
}

/** A form that opens with a click. If it has an error, it is already open. */
function formPart(part: {
  text: string;
  error: string | undefined;
  consequence: Content;
  to: string;
  field: Html;
  submit: string;
  kind?: 'danger';
}): Html {
  const { text, error, consequence, to, field, submit, kind } = part;
  return html`<details class="confirm" ${error ? 'open' : ''}>
    <summary class="button quiet">${text}</summary>
    <div class="confirm-body"><p>${consequence}</p><form method="post" action="${to}" class="stack">
      ${field}
      <button ${kind ? html`class="${kind}"` : ''} type="submit">${submit}</button>
    </form></div>
  </details>`;
}

function hiding({ base, server, typed }: View): Html {
  if (server.hiddenAt) return button({ to: adminServerPath(base, server, '/unhide'), text: 'Unhide' });
  return formPart({
    text: 'Hide…',
    error: typed.errors.reason ?? typed.errors.internalReason,
    consequence:
      'The server is removed from the ranking and public lists. Its API, votes and listener keep working.',
    to: adminServerPath(base, server, '/hide'),
    field: reasonFields({
      typed,
      forOwner: { name: 'reason', reader: 'the owner', required: true },
      internal: { name: 'internalReason' },
    }),
    submit: 'Hide server',
  });
}

function transfer({ base, server, typed }: View): Html {
  return formPart({
    text: 'Transfer…',
    error: typed.errors.email,
    consequence:
      'The new owner gets full access; the old owner and all members lose it. If the server had an owner, its API tokens and claim keys are revoked: plugins need new ones.',
    to: adminServerPath(base, server, '/transfer'),
    field: fieldsOf(typed).text('email', {
      label: 'E-mail address of the new owner',
      type: 'email',
      required: true,
      maxlength: 254,
    }),
    submit: 'Transfer server',
  });
}

function removal({ base, server, typed }: View): Html {
  return formPart({
    text: 'Remove…',
    error: typed.errors.slug,
    consequence:
      'This cannot be undone. Its tokens stop working, its waiting votes fail, and its id and slug are never used again.',
    to: adminServerPath(base, server, '/remove'),
    field: fieldsOf(typed).text('slug', {
      label: `Type ${server.slug} to confirm`,
      required: true,
      spellcheck: false,
      autocomplete: 'off',
    }),
    submit: 'Remove server permanently',
    kind: 'danger',
  });
}
