import { defineMessage, t } from '../../language/t.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { count, counted } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { latencyChart, playersChart, rankChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page, SearchMetadata } from '../shared/layout.ts';
import { card, notice, pager } from '../shared/parts.ts';
import { reviewItem, spreadOf } from '../shared/review-parts.ts';
import { playersText } from '../shared/server-figures.ts';
import { publicPath, SHARE_IMAGE } from '../shared/server-paths.ts';
import { shareCard } from '../shared/share-card.ts';
import type { Site } from '../shared/site-settings.ts';
import { ownReviewCard } from './own-review-card.ts';
import { serverHead } from './server-head.ts';
import { pathOf, RANGES, type Seen, type View, type Wanted } from './server-view.ts';
import { gameServer } from './structured-data.ts';
import { topVotersCard } from './top-voters-card.ts';

const MESSAGES = {
  'review-saved': defineMessage('Review saved. It becomes public after an operator approves it.'),
  'review-deleted': defineMessage('Review deleted.'),
};

/**
 * The body of a server's page; `reader` adds the parts for a signed-in user. The order follows a player's questions:
 * how to join, how to vote, how good the server is, then the charts.
 */
export function serverBody(site: Site, view: View): Page {
  const { server, seen, reader } = view;
  const { base } = site;
  const { now, uptime, ranks, votes } = seen;
  const hidden = t('The operator has hidden this server. Only its owner and operators can see this page.');
  const report = html`<a href="${base}${publicPath(server, '/report')}" rel="nofollow">${t('Report this server')}</a>`;
  return {
    title: server.name,
    messages: MESSAGES,
    scripts: ['vote.js'],
    ...(isPast(view) ? {} : { metadata: metadataOf(site, view) }),
    body: html`${server.hiddenAt ? notice('attention', hidden) : ''}
      ${serverHead(site, view)}
      ${playersCard(base, view)}
      <div class="columns even">
        ${latencyCard(view)}
        ${card({ title: t('Uptime in 30 days'), body: html`${uptimeChart(uptime)}${uptimeKey(uptime)}` })}
        ${card({ title: t('Votes in 30 days'), body: votesChart(votes) })}
        ${card({ title: t('Rank'), body: rankChart(ranks) })}
      </div>
      ${topVotersCard(seen.topVoters)}
      ${reviewsCard(base, view)}
      ${ownReviewCard(base, server, reader, now)}
      ${server.hiddenAt ? '' : shareCard(site, server)}
      <p class="small soft">${aboutTimes()} ${server.hiddenAt ? '' : report}</p>`,
  };
}

/** A remark on the page's time zone. A script replaces UTC with the reader's own time zone. */
function aboutTimes(): Html {
  const ownZone = t('in your time zone, {zone}', { zone: '{zone}' });
  return t('Days are UTC days. Times are <span>UTC</span>.', {
    span: (text) => html`<span data-zone="${ownZone}">${text}</span>`,
  });
}

/** Whether the page number is after the last page of reviews. Search engines must not index such a page. */
function isPast({ seen, wanted }: View): boolean {
  return wanted.reviews > Math.max(seen.found.totalPages, 1);
}

function metadataOf(site: Site, { server, seen, wanted, preview }: View): SearchMetadata {
  const { info, found } = seen;
  const motd = plainText(info.motd).replace(/\s+/g, ' ');
  const page = (reviews: number) => pathOf(server, { ...wanted, reviews });
  const game = gameName(server.game);
  const about = server.profile?.shortText ?? motd;
  const description = `${t('{server}{game}: {status}, rank {rank}, {votes} in 30 days.', {
    server: server.name,
    game: game ? ` (${game})` : '',
    status: playersText(info),
    rank: count(info.rankPosition),
    votes: counted(info.votesCount, 'vote'),
  })}${about ? ` ${about}` : ''}`;
  return {
    // The canonical address does not contain the range of a chart.
    canonical: pathOf(server, { range: RANGES[0][0], reviews: wanted.reviews }),
    description,
    items: gameServer(site, { server, info, reviews: found, description }),
    image: {
      path: publicPath(server, preview),
      ...SHARE_IMAGE,
      alt: t('Status of {server}', { server: server.name }),
    },
    previous: wanted.reviews > 1 ? page(wanted.reviews - 1) : undefined,
    next: wanted.reviews < found.totalPages ? page(wanted.reviews + 1) : undefined,
  };
}

const rangeName = ({ range }: Wanted) => t((RANGES.find(([one]) => one === range) ?? RANGES[0])[1]);

/** The card with the players over the selected range, and links to the other ranges. */
function playersCard(base: string, { server, seen: { history, now }, wanted }: View): Html {
  const link = ([range, text]: (typeof RANGES)[number]) => {
    const path = `${base}${pathOf(server, { ...wanted, range })}#players`;
    return range === wanted.range
      ? html`<a class="button" href="${path}" aria-current="true">${t(text)}</a>`
      : html`<a class="button quiet" href="${path}">${t(text)}</a>`;
  };
  return card({
    id: 'players',
    title: t('Players'),
    actions: RANGES.map(link),
    body: playersChart(t('Players: {range}', { range: rangeName(wanted) }), history, now),
  });
}

/** The card with the latency over the same range. */
function latencyCard({ seen: { history, now }, wanted }: View): Html {
  const title = t('Latency: {range}', { range: rangeName(wanted) });
  return card({ title, body: latencyChart(title, history, now) });
}

function uptimeKey(uptime: Seen['uptime']): Content {
  if (uptime.every(({ onlineSeconds, offlineSeconds }) => onlineSeconds + offlineSeconds === 0)) return '';
  return html`<ul class="key soft small">
    <li class="good">${t('online')}</li>
    <li class="bad">${t('offline')}</li>
    <li class="unknown">${t('unknown: hover over a day, or show the table, to see the reason')}</li>
  </ul>`;
}

function reviewsCard(base: string, { server, seen: { found, reviewers, now }, wanted }: View): Html {
  const page = (reviews: number) => `${base}${pathOf(server, { ...wanted, reviews })}#reviews`;
  const marks = t(
    '“Has voted”: a vote of a player with this name is known. “New account”: the reviewer signed up less than 30 days ago.',
  );
  const none = wanted.reviews > 1 ? t('There are no reviews on this page.') : t('No reviews yet.');
  const list =
    found.reviews.length > 0
      ? html`<ol class="reviews">${found.reviews.map((review, index) =>
          reviewItem({ review, server, now, reviewer: reviewers[index] }),
        )}</ol>
          <p class="small soft">${marks}</p>`
      : html`<div class="empty">${none}</div>`;
  return card({
    id: 'reviews',
    title: t('Reviews'),
    body: html`${found.total > 0 ? spreadOf(found) : ''}${list}
      ${pager({
        newer:
          wanted.reviews > 1 ? page(Math.max(Math.min(wanted.reviews - 1, found.totalPages), 1)) : undefined,
        older: wanted.reviews < found.totalPages ? page(wanted.reviews + 1) : undefined,
      })}`,
  });
}
