import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { MOST_FAVOURITES } from '../../favourites/favourite-list.ts';
import { addFavourite, FAVOURITE_CHANGES } from '../../favourites/favourites.ts';
import { t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import type { PublicParts } from './public-parts.ts';
import type { WantedFavourite } from './wanted-favourite.ts';

type Deps = PublicParts['deps'];

/**
 * `/favourites/:serverId`: the page after a visitor clicked a star and then signed in or up. If a cookie says that this
 * browser clicked it, the server is added at once. Otherwise a button asks first: a link must not change anything.
 */
export function addFavouritePage(
  app: FastifyInstance,
  { deps }: Pick<PublicParts, 'deps'>,
  wanted: WantedFavourite,
): void {
  const { base } = app.site;

  app.get('/favourites/:serverId', SIGNED_IN, async (request, reply) => {
    const server = await listedServerById(deps, idParam(request, 'serverId'));
    if (!wanted.find(request)?.equals(server._id)) return sendPage(request, reply, askPage(app.site, server));
    await addOrThrow(deps, request, server._id);
    return reply
      .header('set-cookie', wanted.forget())
      .header('cache-control', 'no-store')
      .redirect(`${base}/favourites?done=added`, 303);
  });
}

/** @throws {PageError} 404 if no listed server has the id */
export async function listedServerById({ servers }: Deps, _id: ObjectId): Promise<WithId<Server>> {
  const server = await servers.findOne({ _id, removedAt: null, hiddenAt: null });
  if (!server) throw new PageError(404, t('No server is listed at this address.'));
  return server;
}

/** @throws {PageError} 429 if the user changed the favourites too often; 409 if the user has `MOST_FAVOURITES` */
export async function addOrThrow(deps: Deps, request: FastifyRequest, serverId: ObjectId): Promise<void> {
  const { _id: userId } = userOf(request);
  await countOrThrow(deps, userId);
  if (await addFavourite(deps, userId, serverId)) return;
  const most = MOST_FAVOURITES;
  throw new PageError(409, t('You have {most} favourites, the most possible. Remove one first.', { most }));
}

/** @throws {PageError} 429 if the user changed the favourites too often */
export async function countOrThrow(deps: Deps, userId: ObjectId): Promise<void> {
  await throwIfUsedUp(deps, FAVOURITE_CHANGES, userId);
}

function askPage({ base }: Site, { name }: WithId<Server>): Page {
  const title = t('Add to your favourites');
  return {
    title,
    width: 'narrow',
    body: html`<h1>${title}</h1>
      <form method="post" class="card stack">
        <p><bdi><strong>${name}</strong></bdi></p>
        <input type="hidden" name="next" value="${base}/favourites" />
        <button type="submit" name="favourite" value="yes">${title}</button>
      </form>`,
  };
}
