import type { FastifyInstance } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { MOST_FAVOURITES } from '../../favourites/favourite-list.ts';
import {
  addFavourite,
  FAVOURITE_CHANGES,
  type Favourite,
  listFavourites,
  removeFavourite,
} from '../../favourites/favourites.ts';
import { playersHidden, statusAt } from '../../history/current-status.ts';
import { defineMessage, t } from '../../language/t.ts';
import { after, DAY } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { createCookie } from '../../platform/cookies.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import { COOLDOWN_MS } from '../../votes/cast/cooldown.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { emptyCard } from '../shared/empty-card.ts';
import { queryText } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { count, relative, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { nextPage } from '../shared/next-path.ts';
import { pager } from '../shared/parts.ts';
import { pageFrom } from '../shared/review-parts.ts';
import { playersBar } from '../shared/server-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { statusBadge } from '../shared/server-status.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { star, starAnchor, starForm } from './star.ts';

const FAVOURITES_A_PAGE = 50;

const starred = z.object({
  favourite: z.enum(['yes', 'no'], { error: () => t('Choose one of these.') }),
  next: z.string().max(2_048).default(''),
});

const MESSAGES = { added: defineMessage('The server is now among your favourites.') };

/** If a visitor adds a server: a cookie remembers it, and the answer redirects to the sign-up page. */
export function favouritePages(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;
  const path = `${base}/favourites`;
  // The server whose star a visitor clicked, until the visitor has signed in: for a day, as long as the mailed link to
  // sign up is valid. Only a form of this site sets the cookie, so a link of another site cannot add a favourite. With
  // its path, browsers do not send it with requests for public pages, which are cached for all visitors.
  const wanted = createCookie(deps.config, { name: 'favourite', lifetimeMs: DAY, under: '/favourites' });

  app.get('/favourites', SIGNED_IN, async (request, reply) => {
    const page = pageFrom((request.query as { page?: unknown }).page);
    const limit = FAVOURITES_A_PAGE;
    const { rows, total, username } = await listFavourites(deps, userOf(request)._id, { page, limit });
    const list: List = { base, config: deps.config, now: deps.clock.now() };
    const shown = (favourite: Favourite) => row(list, favourite);
    const to = (other: number) => (other === 1 ? path : `${path}?page=${other}`);
    return sendPage(request, reply, {
      title: t('Your favourites'),
      styles: ['public.css'],
      messages: MESSAGES,
      body: html`<h1>${t('Your favourites')}</h1>
        ${total > 0 ? html`<p class="soft">${aboutTimes(username)}</p>` : ''}
        ${starForm(to(page))}
        ${rows.length > 0 ? html`<ol class="favourites">${rows.map(shown)}</ol>` : nothing(base)}
        ${pager({
          newer: page > 1 ? to(page - 1) : undefined,
          older: page * limit < total ? to(page + 1) : undefined,
        })}`,
    });
  });

  // The page after a visitor clicked a star and then signed in or up. Without the cookie of this browser, a button asks
  // first: a link must not change anything.
  app.get('/favourites/:serverId', SIGNED_IN, async (request, reply) => {
    const server = await listedServerById(deps, idParam(request, 'serverId'));
    const isWanted = wanted.read(request.headers.cookie) === server._id.toHexString();
    if (!isWanted) return sendPage(request, reply, askPage(base, server));
    await addOrThrow(deps, userOf(request)._id, server._id);
    return reply
      .header('set-cookie', wanted.clear())
      .header('cache-control', 'no-store')
      .redirect(`${path}?done=added`, 303);
  });

  formRoute(app, {
    path: '/favourites/:serverId',
    access: ANYONE,
    schema: starred,
    run: async ({ request, reply, data }) => {
      const serverId = idParam(request, 'serverId');
      if (!request.signedIn && data.favourite === 'no')
        return `${base}/sign-in${queryText({ done: 'not-sent', next: path })}`;
      if (!request.signedIn) {
        reply.header('set-cookie', wanted.set(serverId.toHexString()));
        return `${base}/sign-up${queryText({ next: `${path}/${serverId.toHexString()}` })}`;
      }
      const { _id: userId } = request.signedIn.user;
      if (data.favourite === 'no') {
        await throwIfUsedUp(deps, FAVOURITE_CHANGES, userId);
        await removeFavourite(deps, userId, serverId);
        return nextPage(app, data.next, path);
      }
      const server = await listedServerById(deps, serverId);
      await addOrThrow(deps, userId, serverId);
      const next = nextPage(app, data.next, `${base}${publicPath(server)}`);
      return `${next}#${starAnchor(server)}`;
    },
  });
}

function nothing(base: string): Html {
  const text = t(
    'You have no favourites yet. Press the star of a server that you like, and it waits for you here.',
  );
  const action = { href: `${base}/`, text: t('Find a server') };
  return html`<section class="card">${emptyCard({ icon: 'star', text, action })}</section>`;
}

type List = { base: string; config: Config; now: Date };

function row(list: List, favourite: Favourite): Html {
  const { base, now } = list;
  const { server, serverId } = favourite;
  const id = serverId.toHexString();
  if (!server) {
    const name = t('a server that is not listed any more');
    return html`<li class="favourite gone"><p class="soft">${t('A server that was removed or hidden')}</p>
      ${star(base, { id, name, slug: id, isFavourite: true })}</li>`;
  }
  const { name, slug } = server;
  return html`<li class="favourite">${serverIcon(base, picturedServer(server), 48)}
    <div class="what"><h2><a href="${base}${publicPath(server)}"><bdi>${name}</bdi></a></h2>
      <p class="meta">${server.game ? html`<span>${gameName(server.game)}</span>` : ''}${players(server, now)}</p></div>
    ${voteOf(list, favourite, server)}
    ${star(base, { id, name, slug, isFavourite: true })}</li>`;
}

function players(server: WithId<Server>, now: Date): Content {
  const status = statusAt(server, now);
  if (status !== 'online') return statusBadge(server, now);
  if (playersHidden(server.current)) return html`<span>${t('players hidden')}</span>`;
  const { onlinePlayers, maxPlayers } = server.current;
  return html`<span class="players"><b>${count(onlinePlayers)}</b>${playersBar(onlinePlayers, maxPlayers)}</span>`;
}

function voteOf({ base, config, now }: List, { username, nextVoteAt }: Favourite, server: WithId<Server>) {
  if (nextVoteAt) {
    const times = { voted: timeAgo(after(nextVoteAt, -COOLDOWN_MS), now), next: relative(nextVoteAt, now) };
    return html`<p class="due-vote">${t('Voted {voted}. Next vote {next}.', times)}</p>`;
  }
  const off = whyOff(config, server, now);
  if (off)
    return html`<p class="due-vote">${off === 'pause' ? t('no votes in a pause') : t('no votes on the page')}</p>`;
  const path = publicPath(server, `/vote${queryText({ username: username ?? undefined })}`);
  const of = t('for {server}', { server: server.name });
  return html`<p class="due-vote"><a class="button vote" href="${base}${path}">${t('Vote')}<span
    class="for-readers"> ${of}</span></a></p>`;
}

function aboutTimes(username: string | null): Content {
  return username === null
    ? t('After your first vote on a server’s page, this page shows when you may vote next.')
    : t('The times are for <bdi>{username}</bdi>, the player name of your last vote on a server’s page.', {
        username,
      });
}

async function listedServerById({ servers }: AppDeps, _id: ObjectId): Promise<WithId<Server>> {
  const server = await servers.findOne({ _id, removedAt: null, hiddenAt: null });
  if (!server) throw new PageError(404, t('No server is listed at this address.'));
  return server;
}

async function addOrThrow(deps: AppDeps, userId: ObjectId, serverId: ObjectId): Promise<void> {
  await throwIfUsedUp(deps, FAVOURITE_CHANGES, userId);
  if (await addFavourite(deps, userId, serverId)) return;
  const most = MOST_FAVOURITES;
  throw new PageError(409, t('You have {most} favourites, the most possible. Remove one first.', { most }));
}

function askPage(base: string, { name }: Server): Page {
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
