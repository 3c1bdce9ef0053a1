import type { WithId } from 'mongodb';
import { isProbed } from '../../games/games.ts';
import { addressesOf } from '../../history/server-addresses.ts';
import { defineMessage, t } from '../../language/t.ts';
import { after, DAY } from '../../platform/clock.ts';
import type { ApiToken } from '../../servers/api-token.ts';
import { isValid } from '../../servers/api-tokens.ts';
import { secondOf } from '../../servers/second-address.ts';
import type { Server } from '../../servers/server.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { deckCard, figureStrip } from '../shared/deck.ts';
import { count, counted, duration, oneDecimal, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { copyable, facts, linkTo } from '../shared/parts.ts';
import { playersFigure } from '../shared/server-figures.ts';
import { publicPath } from '../shared/server-paths.ts';
import { cover, picturedServer, serverIcon } from '../shared/server-pictures.ts';
import {
  addressesText,
  EDITION_NAMES,
  serverAddress,
  stateBadge,
  statusBadge,
} from '../shared/server-status.ts';
import type { Overview } from './overview-data.ts';
import { rankText } from './server-cards.ts';
import { needsOwner, type Remark, remarkList } from './server-remarks.ts';

type Seen = Pick<Overview, 'info' | 'votes' | 'reviews' | 'rankBefore' | 'now'>;

/** The server with its pictures, and four figures. */
export function overviewHead(base: string, server: WithId<Server>, seen: Seen): Html {
  const pictured = picturedServer(server);
  const where = [gameName(server.game), server.current.version].filter(Boolean).join(' ');
  const share = html`<a class="button quiet" href="#share">${icon('share-2')} ${t('Share')}</a>`;
  return html`<header class="prow card flush">${cover(base, pictured, 'banner')}
    <div class="who">${serverIcon(base, pictured, 72)}<div><h1><bdi>${server.name}</bdi></h1>
        <p class="where">${statusBadge(server, seen.now)}<span>${where}</span>
          <span>${addressesText(server)}</span></p></div>
      <div class="actions"><a class="button quiet" href="${base}${publicPath(server)}">${icon('external-link')} ${t(
        'Public page',
      )}</a>${server.hiddenAt ? '' : share}</div></div>
    ${figureStrip(headFigures(server, seen))}</header>`;
}

function headFigures(server: WithId<Server>, { info, votes, reviews, rankBefore }: Seen) {
  const small = (text: Content) => (text ? html` <small>${text}</small>` : '');
  const players = playersFigure(info, server.game);
  const [yesterday = 0, today = 0] = votes.slice(-2).map((day) => day.votes);
  const { reviewCount, averageRating } = reviews;
  const rating =
    reviewCount > 0
      ? html`${oneDecimal(averageRating)}${small(counted(reviewCount, 'review'))}`
      : html`–${small(t('no reviews'))}`;
  return [
    { name: t('Rank'), value: rankText(server, rankBefore) },
    { name: t('Players'), value: html`${players.value}${small(players.detail)}` },
    {
      name: t('Votes today'),
      value: html`${count(today)}${small(t('{votes} yesterday', { votes: count(yesterday) }))}`,
    },
    { name: t('Rating'), value: rating },
  ];
}

/** A token that ends within this time is named. */
const ENDS_SOON_MS = 14 * DAY;

type Waiting = { remarks: Remark[]; tokens: WithId<ApiToken>[]; hasSteps: boolean; now: Date };

/** What waits for the owner, in one place above the figures. */
export function todoList(
  base: string,
  server: WithId<Server>,
  { remarks, tokens, hasSteps, now }: Waiting,
): Content {
  const ending = tokens.filter(
    (token) => isValid(token, now) && token.expiresAt && token.expiresAt < after(now, ENDS_SOON_MS),
  );
  const a = linkTo(serverPath(base, server, '/tokens'));
  const ofTokens = ending.map(({ name, expiresAt }): Remark => {
    const time = duration((expiresAt?.getTime() ?? 0) - now.getTime());
    const text = t('The API token “<bdi>{name}</bdi>” ends in {time}. <a>Renew it</a>', { name, time, a });
    return { tone: 'attention', icon: 'key-round', text };
  });
  const shown = remarks.filter(
    (one) => needsOwner(one) && one.icon !== 'eye-off' && !(hasSteps && one.icon === 'list-checks'),
  );
  return remarkList([...shown, ...ofTokens], 'remarks todo');
}

const OWNERSHIP_PROOF_TEXTS = {
  message: defineMessage('by its message'),
  dns: defineMessage('by its DNS record'),
  operator: defineMessage('by an operator of this listing'),
} as const;

function gameText(game: string | null | undefined): string {
  const name = gameName(game) || t('none');
  return isProbed(game) ? name : t('{game} (not probed: status from reports only)', { game: name });
}

/** Two addresses have a state each. */
function addressFacts(server: WithId<Server>, now: Date): [Content, Content][] {
  const second = secondOf(server);
  if (!second) return [[t('Address'), addressesText(server)]];
  return addressesOf(server, now).map((one) => [
    t(EDITION_NAMES[one.edition ?? 'java'].name),
    html`<span class="mono">${serverAddress(one)}</span> ${stateBadge(one.status)}`,
  ]);
}

export function serverFacts(server: WithId<Server>, now: Date): Html {
  const { current, proof, listedAt, game } = server;
  return deckCard({
    title: t('The server'),
    columns: server.hiddenAt ? 12 : 6,
    body: html`${facts([
      ...addressFacts(server, now),
      [t('Game'), gameText(game)],
      [t('Version'), current.version],
      [t('Last checked'), current.checkedAt ? timeAgo(current.checkedAt, now) : t('not yet')],
      [t('Listed'), timeAgo(listedAt, now)],
      [
        t('Ownership verified'),
        proof ? html`${t(OWNERSHIP_PROOF_TEXTS[proof.method])}, ${timeAgo(proof.at, now)}` : undefined,
      ],
    ])}
    <div>
      <p class="soft small">${t('Server id for plugins and the API')}</p>
      ${copyable(server._id.toHexString(), t('the server id'))}
    </div>`,
  });
}
