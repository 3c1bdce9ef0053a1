import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { MOST_FAVOURITES } from '../../favourites/favourite-list.ts';
import {
  addFavourite,
  countFavouriteChange,
  type Favourite,
  listFavourites,
  removeFavourite,
} from '../../favourites/favourites.ts';
import { playersHidden, statusAt } from '../../history/current-status.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { queryText } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, localTime } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { nextPath } from '../shared/next-path.ts';
import { dataTable, linkTo, pager } from '../shared/parts.ts';
import { pageFrom } from '../shared/review-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { statusBadge } from '../shared/server-status.ts';
import type { PublicParts } from './public-parts.ts';
import { star, starAnchor, starForm } from './star.ts';

const FAVOURITES_A_PAGE = 50;

const starred = z.object({
  favourite: z.enum(['yes', 'no'], { error: () => t('Choose one of these.') }),
  next: z.string().max(2_048).default(''),
});

/**
 * `/favourites`: the user's favourite servers, with the time of the next vote for each; `/favourites/:serverId` adds or
 * removes one.
 */
export function favouritePages(app: FastifyInstance, { deps }: Pick<PublicParts, 'deps'>): void {
  const { base } = app.site;
  const path = `${base}/favourites`;

  app.get('/favourites', SIGNED_IN, async (request, reply) => {
    const page = pageFrom((request.query as { page?: unknown }).page);
    const limit = FAVOURITES_A_PAGE;
    const { rows, total, username } = await listFavourites(deps, userOf(request)._id, { page, limit });
    const list: List = { base, config: deps.config, now: deps.clock.now(), username };
    const to = (other: number) => (other === 1 ? path : `${path}?page=${other}`);
    return sendPage(request, reply, {
      title: t('Your favourites'),
      body: html`<h1>${t('Your favourites')}</h1>
        ${total > 0 ? html`<p class="soft">${aboutTimes(username)}</p>` : ''}
        ${starForm(to(page))}
        <section class="card">${table(list, rows)}
          ${pager({
            newer: page > 1 ? to(page - 1) : undefined,
            older: page * limit < total ? to(page + 1) : undefined,
          })}
        </section>`,
    });
  });

  formRoute(app, {
    path: '/favourites/:serverId',
    access: SIGNED_IN,
    schema: starred,
    run: async ({ request, data }) => {
      const serverId = idParam(request, 'serverId');
      const { _id: userId } = userOf(request);
      const retryAt = await countFavouriteChange(deps, userId);
      if (retryAt)
        return refused(429, t('You changed your favourites too often. Wait a few minutes.'), retryAt);
      if (data.favourite === 'no') {
        await removeFavourite(deps, userId, serverId);
        return nextPath(data.next, base, path);
      }
      const server = await deps.servers.findOne({ _id: serverId, removedAt: null, hiddenAt: null });
      if (!server) return refused(404, t('No server is listed at this address.'));
      if (!(await addFavourite(deps, userId, serverId))) {
        const most = MOST_FAVOURITES;
        return refused(409, t('You have {most} favourites, the most possible. Remove one first.', { most }));
      }
      const next = nextPath(data.next, base, `${base}${publicPath(server)}`);
      return `${next}#${starAnchor(server)}`;
    },
  });
}

/** The data for the cells of the list. `username` is the player name of the user's last vote. */
type List = { base: string; config: Config; now: Date; username: string | null };

function table(list: List, rows: Favourite[]): Html {
  const { base, now } = list;
  return dataTable({
    caption: t('Your favourites'),
    rows,
    columns: [
      { title: t('Server'), heads: true, cell: ({ server }) => nameCell(base, server) },
      {
        title: t('Status'),
        cell: ({ server }) =>
          server ? statusBadge(server, now) : html`<span class="soft">${t('not listed any more')}</span>`,
      },
      { title: t('Players'), kind: 'number', cell: ({ server }) => (server ? players(server, now) : '–') },
      { title: t('Next vote'), cell: (favourite) => nextVote(list, favourite) },
      {
        title: t('Remove'),
        cell: ({ serverId, server }) =>
          star(
            { base },
            {
              id: serverId.toHexString(),
              name: server?.name ?? t('a server that is not listed any more'),
              slug: server?.slug ?? serverId.toHexString(),
              isFavourite: true,
            },
          ),
      },
    ],
    empty: t(
      'You have no favourites yet. Mark servers with a star in the <a>ranking</a> or on their pages.',
      { a: linkTo(`${base}/`) },
    ),
  });
}

function players(server: WithId<Server>, now: Date): string {
  const status = statusAt(server, now);
  if (status === 'offline') return '0';
  if (playersHidden(server.current)) return t('players hidden');
  const { onlinePlayers, maxPlayers } = server.current;
  return status === 'unknown' && onlinePlayers + maxPlayers === 0 ? '–' : count(onlinePlayers);
}

function nameCell(base: string, server: Favourite['server']): Content {
  if (!server) return html`<span class="soft">${t('A server that was removed or hidden')}</span>`;
  return html`<a href="${base}${publicPath(server)}"><bdi>${server.name}</bdi></a>
    ${server.game ? html`<span class="about">${gameName(server.game)}</span>` : ''}`;
}

function nextVote({ base, config, username }: List, { server, nextVoteAt }: Favourite): Content {
  if (!server) return '–';
  if (nextVoteAt) return localTime(nextVoteAt);
  if (whyOff(config, server)) return html`<span class="soft">${t('no votes on the page')}</span>`;
  const text = nextVoteAt === null ? t('Vote now') : t('Vote');
  const path = publicPath(server, `/vote${queryText({ username: username ?? undefined })}`);
  const of = t('for {server}', { server: server.name });
  return html`<a href="${base}${path}">${text}<span class="for-readers"> ${of}</span></a>`;
}

function aboutTimes(username: string | null): Content {
  return username === null
    ? t('After your first vote on a server’s page, this page shows when you may vote next.')
    : t('The times are for <bdi>{username}</bdi>, the player name of your last vote on a server’s page.', {
        username,
      });
}
