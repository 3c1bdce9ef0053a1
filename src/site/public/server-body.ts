import { defineMessage, t } from '../../language/t.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { NEW_ACCOUNT_DAYS } from '../../reviews/reviewers.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { count, counted } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { notice, pager } from '../shared/parts.ts';
import { reviewItem, spreadOf } from '../shared/review-parts.ts';
import type { SearchMetadata } from '../shared/search-metadata.ts';
import { playersText } from '../shared/server-figures.ts';
import { copyAddress } from '../shared/server-parts.ts';
import { publicPath, SHARE_IMAGE } from '../shared/server-paths.ts';
import { serverAddress } from '../shared/server-status.ts';
import { shareCard } from '../shared/share-card.ts';
import { ownReviewCard } from './own-review-card.ts';
import { tagPath } from './ranking-query.ts';
import { chartSections } from './server-charts.ts';
import { serverHead } from './server-head.ts';
import { joinColumn } from './server-join.ts';
import { pathOf, RANGES, type Seen, type View } from './server-page-data.ts';
import { aboutSection, keyFigures, motdSection, section, similarSection } from './server-story.ts';
import { gameServer } from './structured-data.ts';
import { topVotersCard } from './top-voters-card.ts';

const MESSAGES = {
  'review-saved': defineMessage('Review saved. It becomes public after an operator approves it.'),
  'review-deleted': defineMessage('Review deleted.'),
};

/**
 * A server's page; if `view.reader` is set, with the parts for a signed-in user. The order follows a player's
 * questions: what the server is, how to join and vote, how good it is; then the charts.
 */
export function serverBody(site: Site, view: View): Page {
  const { server, seen, reader } = view;
  const { base } = site;
  const hidden = t('The operator has hidden this server. Only its owner and operators can see this page.');
  return {
    title: server.name,
    width: 'full',
    messages: MESSAGES,
    styles: ['public.css'],
    scripts: ['vote.js', 'charts.js'],
    ...(isPast(view) ? {} : { metadata: metadataOf(site, view) }),
    body: html`<div class="server-page">
      ${server.hiddenAt ? notice('attention', hidden) : ''}
      <article class="profile">
        ${serverHead(site, view)}
        ${joinColumn(site, view)}
        <div class="story">
          ${keyFigures(seen)}
          ${allTags(base, server, seen)}
          ${aboutSection(server.profile?.description)}
          ${reviewsSection(base, view)}
          ${ownReviewCard(base, server, reader, seen.now)}
          ${motdSection(seen.info.motd)}
          ${chartSections(base, view)}
          ${topVotersCard(seen.topVoters)}
          ${server.hiddenAt ? '' : shareCard(site, server)}
          ${similarSection(base, view)}
          ${remarks(base, server)}
        </div>
      </article>
      ${dock(server)}
    </div>`,
  };
}

/**
 * The bar at the foot of the window, on phones. If this browser voted here within the cooldown, the last link replaces
 * “Vote”.
 */
function dock(server: Server): Html {
  const name = html`<span class="for-readers"> ${server.name}</span>`;
  return html`<section class="dock" aria-label="${t('Join or vote')}">
    ${copyAddress(serverAddress(server), server.name)}
    <a class="button vote to-vote" href="#vote">${t('Vote')}${name}</a>
    <a class="button vote voted voted-here" href="#vote" hidden>${t('Voted today')}${name}</a>
  </section>`;
}

function allTags(base: string, { profile }: Server, { tags }: Seen): Content {
  const chosen = tags.filter(({ key }) => profile?.tags?.includes(key));
  if (chosen.length === 0) return '';
  const links = chosen.map(({ key, name }) => html`<li><a href="${base}${tagPath(key)}">${name}</a></li>`);
  return html`<ul class="tags big" aria-label="${t('Tags')}">${links}</ul>`;
}

function remarks(base: string, server: Server): Html {
  const report = html`<a href="${base}${publicPath(server, '/report')}" rel="nofollow">${t('Report this server')}</a>`;
  return html`<p class="small soft remarks">${aboutTimes()} ${server.hiddenAt ? '' : report}</p>`;
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
  const description = `${t('{server}{game}: {status}, rank {rank}, {votes} in {days} days.', {
    days: RANKING_DAYS,
    server: server.name,
    game: game ? ` (${game})` : '',
    status: playersText(info),
    rank: count(info.rankPosition),
    votes: counted(info.votesCount, 'vote'),
  })}${about ? ` ${about}` : ''}`;
  return {
    // `pathOf` leaves out the default range of the chart: a page has one canonical address for all ranges.
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

function reviewsSection(base: string, { server, seen: { found, reviewers, now }, wanted }: View): Html {
  const page = (reviews: number) => `${base}${pathOf(server, { ...wanted, reviews })}#reviews`;
  const marks = t(
    '“Has voted”: a vote of a player with this name is known. “New account”: the reviewer signed up less than {days} days ago.',
    { days: NEW_ACCOUNT_DAYS },
  );
  const none = wanted.reviews > 1 ? t('There are no reviews on this page.') : t('No reviews yet.');
  const list =
    found.reviews.length > 0
      ? html`<ol class="reviews">${found.reviews.map((review, index) =>
          reviewItem({ review, server, now, reviewer: reviewers[index], withFace: true }),
        )}</ol>
          <p class="small soft">${marks}</p>`
      : emptyLine(none);
  return section(
    'reviews',
    t('Reviews'),
    html`${found.total > 0 ? spreadOf(found) : ''}${list}
      ${pager({
        newer:
          wanted.reviews > 1 ? page(Math.max(Math.min(wanted.reviews - 1, found.totalPages), 1)) : undefined,
        older: wanted.reviews < found.totalPages ? page(wanted.reviews + 1) : undefined,
      })}`,
    html`<a class="button quiet" href="#your-review">${t('Write a review')}</a>`,
  );
}
