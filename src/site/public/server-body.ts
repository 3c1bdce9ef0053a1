import { defineMessage, t } from '../../language/t.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { NEW_ACCOUNT_DAYS } from '../../reviews/reviewers.ts';
import { languageName } from '../../servers/languages.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { country } from '../shared/flags.ts';
import { count, counted, dayText, oneDecimal } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import type { Page } from '../shared/layout.ts';
import { notice, pager } from '../shared/parts.ts';
import { pauseNotice } from '../shared/pause-parts.ts';
import { REVIEWS_A_PAGE, reviewItem, spreadOf } from '../shared/review-parts.ts';
import type { SearchMetadata } from '../shared/search-metadata.ts';
import { playersText } from '../shared/server-figures.ts';
import { copyButtons, premiumMark } from '../shared/server-parts.ts';
import { publicPath, SHARE_IMAGE } from '../shared/server-paths.ts';
import { cover, picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { embedCodes } from '../shared/share-card.ts';
import { writtenLine } from '../shared/written-text.ts';
import { ownReview, reviewLink } from './own-review-card.ts';
import { gamePath, tagPath } from './ranking-query.ts';
import { joinColumn } from './server-join.ts';
import { pathOf, RANGES, type Seen, type View } from './server-page-data.ts';
import {
  aboutSection,
  figuresSection,
  keyFigures,
  section,
  similarSection,
  topVotersCard,
} from './server-story.ts';
import { starAnchor } from './star.ts';
import { gameServer } from './structured-data.ts';

const MESSAGES = {
  'review-saved': defineMessage('Review saved. It becomes public after an operator approves it.'),
  'review-deleted': defineMessage('Review deleted.'),
};

/** In the order of a player's questions: what it is, how to join and vote, how good it is; then the charts. */
export function serverBody(site: Site, view: View): Page {
  const { server, seen } = view;
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
      ${seen.info.listingPause ? pauseNotice(seen.info.listingPause) : ''}
      <article class="profile">
        ${serverHead(site, view)}
        ${joinColumn(site, view)}
        <div class="story">
          ${keyFigures(base, seen)}
          ${allTags(base, server, seen)}
          ${aboutSection(server.profile?.description)}
          ${reviewsSection(base, view)}
          ${figuresSection(base, view)}
          ${topVotersCard(seen)}
          ${similarSection(base, view)}
          ${remarks(site, server)}
        </div>
      </article>
      ${dock(view)}
    </div>`,
  };
}

/** On phones. If this browser voted here within the cooldown, the last link replaces “Vote”. */
function dock({ server, seen }: View): Html {
  const name = html`<span class="for-readers"> ${server.name}</span>`;
  const votes = html`<a class="button vote to-vote" href="#vote">${t('Vote')}${name}</a>
    <a class="button vote voted voted-here" href="#vote" hidden>${t('Voted today')}${name}</a>`;
  return html`<section class="dock" aria-label="${t('Join or vote')}">
    ${copyButtons(server)}
    ${seen.info.listingPause ? '' : votes}
  </section>`;
}

function allTags(base: string, { profile }: Server, { tags }: Seen): Content {
  const chosen = tags.filter(({ key }) => profile?.tags?.includes(key));
  if (chosen.length === 0) return '';
  const links = chosen.map(({ key, name }) => html`<li><a href="${base}${tagPath(key)}">${name}</a></li>`);
  return html`<ul class="tags big" aria-label="${t('Tags')}">${links}</ul>`;
}

function remarks(site: Site, server: Server): Html {
  const path = `${site.base}${publicPath(server, '/report')}`;
  const summary = t('{label}: {text}', { label: t('Share'), text: t('Show embed code') });
  const share = html`<details id="share"><summary>${summary}</summary>
    <div class="box">${embedCodes(site, server)}</div></details>`;
  const report = html`<a href="${path}" rel="nofollow">${t('Report this server')}</a>`;
  return html`<div class="small soft remarks"><p>${aboutTimes()} ${server.hiddenAt ? '' : report}</p>
    ${server.hiddenAt ? '' : share}</div>`;
}

/** A script replaces UTC with the reader's own time zone. */
function aboutTimes(): Html {
  const ownZone = t('in your time zone, {zone}', { zone: '{zone}' });
  return t('Days are UTC days. Times are <span>UTC</span>.', {
    span: (text) => html`<span data-zone="${ownZone}">${text}</span>`,
  });
}

/** Search engines must not index a page after the last one. */
function isPast({ seen, wanted }: View): boolean {
  return wanted.reviews > Math.max(pagesOf(seen), 1);
}

/** All reviews, however many of them the page shows. */
const pagesOf = ({ found }: Seen) => Math.ceil(found.total / REVIEWS_A_PAGE);

function metadataOf(site: Site, { server, seen, wanted, preview }: View): SearchMetadata {
  const { info, found } = seen;
  const motd = plainText(info.motd).replace(/\s+/g, ' ');
  // The first page of the reviews begins with those that the page without a number shows: one address for both.
  const page = (reviews: number, range = wanted.range) =>
    pathOf(server, { range, reviews: reviews > 1 ? reviews : 0 });
  const at = Math.max(wanted.reviews, 1);
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
    canonical: page(at, RANGES[0][0]),
    description,
    items: gameServer(site, { server, info, reviews: found, description }),
    image: {
      path: publicPath(server, preview),
      ...SHARE_IMAGE,
      alt: t('Status of {server}', { server: server.name }),
    },
    previous: at > 1 ? page(at - 1) : undefined,
    next: at < pagesOf(seen) ? page(at + 1) : undefined,
  };
}

function reviewsSection(base: string, view: View): Html {
  const { server, seen, wanted, reader } = view;
  const { found, reviewers, now } = seen;
  const page = (reviews: number) => `${base}${pathOf(server, { ...wanted, reviews })}#reviews`;
  const none = wanted.reviews > 1 ? t('There are no reviews on this page.') : t('No reviews yet.');
  const list =
    found.reviews.length > 0
      ? html`<ol class="reviews">${found.reviews.map((review, index) =>
          reviewItem({ review, server, now, reviewer: reviewers[index], withFace: true }),
        )}</ol>`
      : emptyLine(none);
  return section(
    'reviews',
    t('Reviews'),
    html`${found.total > 0 ? spreadOf(found) : ''}${list}
      ${wanted.reviews > 0 ? restOfReviews(view, page) : ''}
      <div class="after-reviews">${wanted.reviews > 0 ? '' : allReviews(found, page)}
        ${ownReview(base, server, reader, now)}</div>`,
    reviewLink(base, server, reader),
  );
}

function allReviews({ total, reviews }: Seen['found'], page: (reviews: number) => string): Content {
  if (total <= reviews.length) return '';
  return html`<p><a href="${page(1)}">${t('All {reviews} reviews', { reviews: count(total) })}</a></p>`;
}

function restOfReviews({ seen: { found }, wanted }: View, page: (reviews: number) => string): Html {
  const marks = t(
    '“Has voted”: a vote of a player with this name is known. “New account”: the reviewer signed up less than {days} days ago.',
    { days: NEW_ACCOUNT_DAYS },
  );
  const { reviews } = wanted;
  return html`<p class="small soft">${marks}</p>${pager({
    newer: reviews > 1 ? page(Math.max(Math.min(reviews - 1, found.totalPages), 1)) : undefined,
    older: reviews < found.totalPages ? page(reviews + 1) : undefined,
  })}`;
}

function serverHead(site: Site, view: View): Html {
  const { server, seen } = view;
  const { base } = site;
  const pictured = picturedServer(server);
  const { shortText } = server.profile ?? {};
  return html`${cover(base, pictured)}
    <header class="ident">
      ${serverIcon(base, pictured, 112)}
      <div class="ident-text">
        <h1><bdi>${server.name}</bdi></h1>
        ${shortText ? html`<p class="line" dir="auto">${writtenLine(shortText)}</p>` : ''}
        ${about(base, server, seen)}
      </div>
      ${tools(site, view)}
    </header>`;
}

/** Only narrow pages show the rating here, because there the key figures are far below. */
function about(base: string, server: Server, { info, found }: Seen): Content {
  const { game, profile } = server;
  const version = info.version ? html` <bdi>${info.version}</bdi>` : '';
  const parts = [
    found.total > 0 && rating(found),
    info.countryCode !== 'ZZ' && country(base, info.countryCode),
    game ? html`<a href="${base}${gamePath(game)}">${gameName(game)}</a>${version}` : version,
    profile?.languages?.map(languageName).join(', '),
    info.isPremium && premiumMark(base),
    ownershipMark(server),
  ].filter(Boolean);
  return parts.length > 0 ? html`<p class="meta">${parts.map((part) => html`<span>${part}</span>`)}</p>` : '';
}

function rating({ averageRating, total }: Seen['found']): Html {
  const reviews = html`<a href="#reviews">${counted(total, 'review')}</a>`;
  return html`<span class="rated">${icon('star', 'solid')} ${oneDecimal(averageRating)} · ${reviews}</span>`;
}

function ownershipMark({ ownerId, proof }: Server): Content {
  if (!ownerId || !proof) return '';
  const { how, text } =
    proof.method === 'operator'
      ? { how: t('An operator of this listing confirmed the owner'), text: t('Owner confirmed') }
      : { how: t('The owner showed control of this server'), text: t('Ownership proven') };
  return html`<span title="${how} (${dayText(proof.at)}).">${icon('shield-check')} ${text}</span>`;
}

function tools(site: Site, view: View): Html {
  const { server, reader } = view;
  const dashboard = reader?.dashboard
    ? html`<a class="button quiet" href="${serverPath(site.base, server)}">${t('Dashboard')}</a>`
    : '';
  const share = server.hiddenAt
    ? ''
    : html`<a class="button quiet" href="#share" data-share="${server.name}">${icon('share-2')}${t('Share')}</a>`;
  return html`<div class="tools">${favourite(site, view)}${share}${dashboard}</div>`;
}

/** A visitor is redirected to sign up first. */
function favourite({ base }: Site, { server, reader }: View): Content {
  const path = `${base}${publicPath(server)}`;
  const isFavourite = reader?.isFavourite ?? false;
  if (server.hiddenAt && !isFavourite) return '';
  const does = isFavourite ? t('Remove from your favourites') : t('Add to your favourites');
  const to = html`formaction="${base}/favourites/${server._id.toHexString()}"`;
  return html`<form method="post"><input type="hidden" name="next" value="${path}" />
    <button class="quiet" type="submit" ${to} name="favourite" value="${isFavourite ? 'no' : 'yes'}"
      id="${starAnchor(server)}" title="${does}">${icon('star', isFavourite ? 'solid' : 'outline')}<span
        aria-hidden="true">${t('Favourite')}</span><span class="for-readers">${does}: ${server.name}</span></button>
  </form>`;
}
