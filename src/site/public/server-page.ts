import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { favouriteIds } from '../../favourites/favourites.ts';
import { defineMessage, t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { randomSlug } from '../../ranking/picked-servers.ts';
import {
  deleteOwnReview,
  findOwnReview,
  OWN_REVIEWS,
  saveOwnReview,
  whyNotReview,
} from '../../reviews/own-review.ts';
import { findServer } from '../../servers/listed-servers.ts';
import { roleOf } from '../../servers/ownership.ts';
import type { Server } from '../../servers/server.ts';
import { isByOperator, userOf } from '../guard-routes.ts';
import { ANYONE, CACHED, SIGNED_IN } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { fieldText, queryOf, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import type { Page } from '../shared/layout.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { type Reader, WHY_NOT } from './own-review-card.ts';
import { previewPath } from './preview-image.ts';
import { rankingPath, rankingQuery } from './ranking-query.ts';
import { serverBody } from './server-body.ts';
import { followingRenames, serverByCurrentSlug, serverBySlugOrId, slugOfRequest } from './server-of-path.ts';
import { pathOf, readServer, type Wanted, wantedOf } from './server-page-data.ts';
import { accountOf, ownNameOf } from './vote-identity.ts';

const reviewForm = z.object({ username: fieldText, rating: fieldText, content: fieldText });

export function serverPages(app: FastifyInstance, deps: AppDeps): void {
  const { site } = app;
  const maySeeHidden = (request: FastifyRequest) => (server: WithId<Server>) => {
    const user = request.signedIn?.user;
    return user !== undefined && (roleOf(server, user._id) !== null || isByOperator(deps, request));
  };
  const page = async (
    request: FastifyRequest,
    server: WithId<Server>,
    wanted: Wanted,
    typed?: Typed,
  ): Promise<Page> => {
    const [seen, preview, reader, ownName] = await Promise.all([
      readServer(deps, server, wanted),
      previewPath(deps, request, server),
      readerOf(deps, request, server, typed),
      ownNameOf(deps, request, server),
    ]);
    // The page is cached for all visitors, so it must not contain the SteamID that Steam confirmed for one browser.
    const voting = { config: deps.config, account: accountOf(deps, request), ownName, provenId: null };
    return serverBody(site, { server, seen, wanted, preview, reader, voting });
  };

  // Only a signed-in user has the form, and those pages are not cached.
  const openForm = (request: FastifyRequest) => (queryOf(request).form === 'open' ? UNTOUCHED : undefined);

  const sendServer = (request: FastifyRequest, reply: FastifyReply, slug: string) => {
    const wanted = wantedOf(request.query);
    return followingRenames(request, reply, () =>
      sendPublicPage(request, reply, pathOf({ slug }, wanted), async () =>
        page(
          request,
          await serverByCurrentSlug(deps, slug, maySeeHidden(request)),
          wanted,
          openForm(request),
        ),
      ),
    );
  };
  app.get('/servers/:slug', CACHED, (request, reply) => sendServer(request, reply, slugOfRequest(request)));
  // `random` is a reserved slug. If a server got it before it was reserved, the server keeps it.
  app.get('/servers/random', CACHED, async (request, reply) =>
    (await findServer(deps, 'random'))
      ? sendServer(request, reply, 'random')
      : sendRandomServer(deps, request, reply),
  );

  const reviewedServer = (request: FastifyRequest) =>
    serverBySlugOrId(deps, slugOfRequest(request), maySeeHidden(request));
  const back = (server: Server, done: string) => `${site.base}${publicPath(server)}?done=${done}#your-review`;

  const pathOfRequest = (request: FastifyRequest) => publicPath({ slug: slugOfRequest(request) });
  // A trailing slash, which forums and users add, redirects to the page.
  app.get('/servers/:slug/', ANYONE, (request, reply) =>
    reply.redirect(`${site.base}${pathOfRequest(request)}`, 301),
  );
  for (const path of ['/servers', '/servers/']) {
    app.get(path, ANYONE, (_request, reply) => reply.redirect(`${site.base}/`, 301));
  }

  // Signing in leads here, and a review form with errors is shown at this path.
  app.get('/servers/:slug/review', ANYONE, (request, reply) =>
    reply.redirect(`${site.base}${pathOfRequest(request)}?form=open#your-review`, 303),
  );

  formRoute(app, {
    path: '/servers/:slug/review',
    access: SIGNED_IN,
    schema: reviewForm,
    check: async (request) => {
      const whyNot = whyNotReview(await reviewedServer(request), userOf(request), confirmsAddresses(deps));
      return whyNot && refused(403, t(WHY_NOT[whyNot]));
    },
    show: async (request, typed) => page(request, await reviewedServer(request), wantedOf({}), typed),
    run: async ({ request, user, data }) => {
      const server = await reviewedServer(request);
      const whose = { serverId: server._id, userId: user._id };
      const review = { ...data, rating: Number(data.rating || Number.NaN) };
      const saved = await saveOwnReview(deps, whose, review);
      if ('review' in saved) return back(server, 'review-saved');
      return refused(429, t(OWN_REVIEWS.sentence), saved.nextAllowedAt);
    },
  });

  formRoute(app, {
    path: '/servers/:slug/review/delete',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      const server = await reviewedServer(request);
      await deleteOwnReview(deps, { serverId: server._id, userId: user._id });
      return back(server, 'review-deleted');
    },
  });
}

/** Only if the listing sends mail. */
function confirmsAddresses({ config }: AppDeps): boolean {
  return config.SMTP_URL !== undefined;
}

async function readerOf(
  deps: AppDeps,
  request: FastifyRequest,
  server: WithId<Server>,
  typed?: Typed,
): Promise<Reader | null> {
  if (!request.signedIn) return null;
  const { user } = request.signedIn;
  const byOperator = isByOperator(deps, request);
  return {
    user,
    dashboard: roleOf(server, user._id) !== null || byOperator,
    isFavourite: (await favouriteIds(deps, user._id)).has(server._id.toHexString()),
    review: await findOwnReview(deps, server._id, user._id),
    whyNot: whyNotReview(server, user, confirmsAddresses(deps)),
    typed,
  };
}

/** The redirects are not cached, so each costs a query. */
const DRAWS = defineLimit({
  key: 'random:address',
  what: 'Random servers',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  sentence: defineMessage('Too many random servers from your network address.'),
});

/** To a server that passes the filters of the request; if there is none, to the filtered list. */
async function sendRandomServer(deps: AppDeps, request: FastifyRequest, reply: FastifyReply) {
  const { base } = request.server.site;
  reply.header('cache-control', 'no-store');
  await throwIfUsedUp(deps, DRAWS, request.ip);
  const { filters } = rankingQuery(request);
  const slug = await randomSlug(deps, filters);
  const path = slug ? publicPath({ slug }) : rankingPath({ q: '', filters, sort: 'rank', page: 1 });
  return reply.redirect(`${base}${path}`, 303);
}
