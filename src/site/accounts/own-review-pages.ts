import type { FastifyInstance } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { deleteOwnReview, listOwnReviews } from '../../reviews/own-review.ts';
import type { Review } from '../../reviews/review.ts';
import type { Server } from '../../servers/server.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { emptyCard, emptyLine } from '../shared/empty-card.ts';
import { queryOf } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { button, confirmed, cursorPager, forReaders } from '../shared/parts.ts';
import { reviewState, reviewText, reviewTimes, starsText } from '../shared/review-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import type { AccountParts } from './account-parts.ts';

const MESSAGES = { deleted: defineMessage('Review deleted.') };

const REVIEWS_A_PAGE = 20;

type Reviewed = Pick<WithId<Server>, '_id' | 'name' | 'slug' | 'removedAt' | 'hiddenAt'>;

/** `/account/reviews`: the user's own reviews, also pending and rejected ones. */
export function ownReviewPages(app: FastifyInstance, { deps }: Pick<AccountParts, 'deps'>): void {
  const { base } = app.site;
  const path = `${base}/account/reviews`;

  app.get('/account/reviews', SIGNED_IN, async (request, reply) => {
    const { from } = queryOf(request);
    const { rows, next } = await listOwnReviews(deps, userOf(request)._id, {
      from,
      limit: REVIEWS_A_PAGE,
    });
    const servers = await serversOf(
      deps,
      rows.map(({ serverId }) => serverId),
    );
    const now = deps.clock.now();
    const item = (review: WithId<Review>) =>
      ownReview(base, review, servers.get(review.serverId.toHexString()), now);
    return sendPage(request, reply, {
      title: t('Your reviews'),
      messages: MESSAGES,
      body: html`<h1>${t('Your reviews')}</h1>
        <section class="card">
          ${rows.length > 0 ? html`<ol class="reviews">${rows.map(item)}</ol>` : nothing(base, from)}
          ${cursorPager(path, { from, next })}
        </section>
        <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
    });
  });

  formRoute(app, {
    path: '/account/reviews/:reviewId/delete',
    access: SIGNED_IN,
    run: async ({ request, user: { _id: userId } }) => {
      const own = { _id: idParam(request, 'reviewId'), personId: userId };
      const review = await deps.reviews.findOne(own);
      if (!review) return refused(404, t('You have no such review.'));
      await deleteOwnReview(deps, { serverId: review.serverId, userId });
      return `${path}?done=deleted`;
    },
  });
}

async function serversOf({ servers }: AppDeps, ids: ObjectId[]): Promise<Map<string, Reviewed>> {
  const projection = { name: 1, slug: 1, removedAt: 1, hiddenAt: 1 };
  const found = await servers.find<Reviewed>({ _id: { $in: ids } }, { projection }).toArray();
  return new Map(found.map((server) => [server._id.toHexString(), server]));
}

function ownReview(base: string, review: WithId<Review>, server: Reviewed | undefined, now: Date): Html {
  const { _id, username, rating } = review;
  const name = server?.name ?? t('A removed server');
  const isListed = server && !server.removedAt && !server.hiddenAt;
  const page = isListed ? `${base}${publicPath(server)}#your-review` : '';
  const title = isListed
    ? html`<strong><a href="${page}"><bdi>${name}</bdi></a></strong> `
    : html`<strong><bdi>${name}</bdi></strong> <span class="soft small">${t('not listed any more')}</span>`;
  const edit = t('Edit<span> the review of {name}</span>', { span: forReaders, name });
  return html`<li>
    <p>${title}</p>
    <p>${starsText(rating)} <bdi>${username}</bdi> ${reviewTimes(review, now)}</p>
    ${reviewState(review)}
    ${reviewText(review, { name }, now)}
    <div class="actions">
      ${isListed ? html`<a class="button quiet" href="${page}">${edit}</a>` : ''}
      ${confirmed({
        text: t('Delete'),
        of: t('the review of {name}', { name }),
        consequence: t('This deletes your review and the owner’s answer. It cannot be undone.'),
        form: button({
          to: `${base}/account/reviews/${_id.toHexString()}/delete`,
          text: t('Delete review'),
          kind: 'danger',
        }),
      })}
    </div>
  </li>`;
}

function nothing(base: string, from: string | undefined): Content {
  if (from) return emptyLine(t('There are no more reviews.'));
  return emptyCard({
    icon: 'message-circle',
    text: t('You have written no reviews yet. You write them on the pages of servers.'),
    action: { href: `${base}/`, text: t('Find a server') },
  });
}
