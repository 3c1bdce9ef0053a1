import type { ObjectId, WithId } from 'mongodb';
import { whyNotProbed } from '../../games/games.ts';
import { playersHidden, statusAt } from '../../history/current-status.ts';
import { t } from '../../language/t.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { roleOf } from '../../servers/ownership.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { changeMark } from '../shared/deck.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { button, confirmed, linkTo } from '../shared/parts.ts';
import { playersBar } from '../shared/server-parts.ts';
import { cover, picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { addressesText } from '../shared/server-status.ts';
import { sparkline } from '../shared/sparkline.ts';
import { ROLE_TEXTS } from './member-cards.ts';
import { type Remark, remarkList } from './server-remarks.ts';

/** How far back the change of a rank looks, in days. */
export const RANK_CHANGE_DAYS = 7;

export type OwnServer = {
  server: WithId<Server>;
  votes: number[];
  rankBefore: number | undefined;
  remarks: Remark[];
};

/** A server in the list of its owner. Its name is a link over the whole card. */
export function serverCard(base: string, own: OwnServer, userId: ObjectId, now: Date): Html {
  const { server, votes, remarks } = own;
  const pictured = picturedServer(server);
  const status = statusAt(server, now);
  const total = votes.reduce((sum, day) => sum + day, 0);
  return html`<li class="ship ${status === 'offline' ? 'down' : ''}">${cover(base, pictured, 'banner')}
    <div class="who">${serverIcon(base, pictured, 56)}<div>
      <h2><a href="${serverPath(base, server)}"><bdi>${server.name}</bdi></a></h2>${whereLine(server)}</div></div>
    <dl class="stats">
      <div><dt>${t('Rank')}</dt><dd>${rankText(server, own.rankBefore)}</dd></div>
      <div><dt>${t('Players')}</dt>${players(server, now)}</div>
      <div><dt>${t('Votes in {days} days', { days: RANKING_DAYS })}</dt><dd>${count(total)}</dd></div>
      <div class="trend"><dt class="for-readers">${t('Votes per day')}</dt><dd>${sparkline(
        t('Votes per day: {numbers}', { numbers: votes.map(count).join(', ') }),
        votes,
      )}</dd></div>
    </dl>
    <div class="foot">${remarkList(remarks, 'remarks')}${membership(base, server, userId)}</div></li>`;
}

function whereLine(server: Parameters<typeof addressesText>[0]): Html {
  const game = gameName(server.game);
  return html`<p>${game ? `${game} · ` : ''}<bdi>${addressesText(server)}</bdi></p>`;
}

/** The rank with its change in `RANK_CHANGE_DAYS` days. */
export function rankText(server: Server, before: number | undefined): Content {
  if (!server.ranked) return '–';
  const change = (before ?? server.rankPosition) - server.rankPosition;
  const since = html`<span class="for-readers"> ${t('in {days} days', { days: RANK_CHANGE_DAYS })}</span>`;
  return html`${count(server.rankPosition)} ${changeMark(change, count(Math.abs(change)))}${change === 0 ? '' : since}`;
}

function players(server: WithId<Server>, now: Date): Html {
  const { current, game } = server;
  const status = statusAt(server, now);
  const word = (tone: string, text: string) => html`<dd class="word ${tone}">${text}</dd>`;
  if (pauseAt(server, now)) return word('soft', t('paused'));
  if (status === 'offline') return word('bad', t('offline'));
  if (status === 'unknown' && whyNotProbed(game) !== null) return word('soft', t('not probed'));
  if (status === 'unknown')
    return current.checkedAt ? word('attention', t('status unknown')) : word('attention', t('not known yet'));
  if (playersHidden(current)) return word('soft', t('players hidden'));
  const { onlinePlayers, maxPlayers } = current;
  const most =
    maxPlayers > 0 ? html` <small>${t('of {maxPlayers}', { maxPlayers: count(maxPlayers) })}</small>` : '';
  return html`<dd>${count(onlinePlayers)}${most}</dd><dd class="pbar">${playersBar(onlinePlayers, maxPlayers)}</dd>`;
}

function membership(base: string, server: WithId<Server>, userId: ObjectId): Content {
  const role = roleOf(server, userId);
  if (!role || role === 'owner') return '';
  const leave = confirmed({
    text: t('Leave…'),
    of: server.name,
    consequence: t(
      'You no longer see this server. Only its owner can invite you again. Tokens that you made for it are revoked, and its owner is told.',
    ),
    form: button({
      to: `${base}/dashboard/memberships/${server._id.toHexString()}/leave`,
      text: t('Leave'),
      kind: 'danger',
      of: server.name,
    }),
  });
  return html`<div class="membership small"><span class="soft">${t('member, {role}', {
    role: t(ROLE_TEXTS[role]),
  })}</span> ${leave}</div>`;
}

/** A server whose ownership is not proven yet. */
export function draftCard(
  base: string,
  { _id, name, address, port, game, check }: WithId<ServerDraft>,
): Html {
  const to = `${base}/dashboard/drafts/${_id.toHexString()}`;
  const pictured = { name, game };
  const state = check?.reached ? t('reached, not verified') : t('not verified');
  const text = html`<b>${t('Not listed yet')}</b> (${state}). <a href="${to}">${t('Verify ownership')}</a>`;
  return html`<li class="ship draft">${cover(base, pictured, 'banner')}
    <div class="who">${serverIcon(base, pictured, 56)}<div>
      <h2><a href="${to}"><bdi>${name}</bdi></a></h2>${whereLine({ game, address, port })}</div></div>
    <div class="foot">${remarkList([{ tone: 'attention', icon: 'shield-check', text }], 'remarks')}</div></li>`;
}

export function addCard({ base, asset }: Pick<Site, 'base' | 'asset'>, isFirst: boolean): Html {
  const text = isFirst
    ? t('You have no servers yet. Add your first one in two minutes.')
    : t('Its address is enough; the rest can wait.');
  const forPlayers = t('Looking for a server to play on? <a>See the ranking</a>.', { a: linkTo(`${base}/`) });
  return html`<li class="ship add"><img src="${asset('empty.svg')}" alt="" width="160" height="96" />
    <h2>${t('Add a server')}</h2><p>${text}</p>
    <a class="${isFirst ? 'button' : 'button quiet'}" href="${base}/dashboard/servers/new">${icon('plus')} ${t(
      'Add a server',
    )}</a>${isFirst ? html`<p>${forPlayers}</p>` : ''}</li>`;
}
