import type { FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { listFavourites } from '../../favourites/favourites.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { similarServers } from '../../ranking/picked-servers.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import type { Site } from '../shared/decorate-site.ts';
import { counted, relative } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { voteLink } from '../shared/server-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { bannerLink, picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { similarCards } from './server-list.ts';

const READ_FAVOURITES = 50;
const MOST_FAVOURITES_SHOWN = 8;
const MOST_SIMILAR = 3;
/** On the home page; each costs a query. */
const MOST_DUE_READ = 12;

type FormSwitch = Pick<Config, 'WEB_VOTES'>;

/** A favourite whose vote form is on. */
export type Votable = { server: WithId<Server>; username: string | null; nextVoteAt: Date | null };

export type OtherServers = {
  /** By the time from which the user can vote again. Null for visitors. */
  favourites: Votable[] | null;
  similar: ListedRow[];
  now: Date;
};

export async function readOtherServers(
  deps: AppDeps,
  { signedIn }: Pick<FastifyRequest, 'signedIn'>,
  server: WithId<Server>,
): Promise<OtherServers> {
  const [votable, similar] = await Promise.all([
    signedIn ? votableFavourites(deps, signedIn.user._id, READ_FAVOURITES) : null,
    similarServers(deps, server, MOST_SIMILAR),
  ]);
  const dueAt = ({ nextVoteAt }: Votable) => nextVoteAt?.getTime() ?? 0;
  const others = votable?.filter((one) => !one.server._id.equals(server._id)) ?? null;
  const favourites = others?.toSorted((one, other) => dueAt(one) - dueAt(other)) ?? null;
  return { favourites, similar, now: deps.clock.now() };
}

async function votableFavourites(deps: AppDeps, userId: ObjectId, limit: number): Promise<Votable[]> {
  const { rows } = await listFavourites(deps, userId, { page: 1, limit });
  return rows.flatMap(({ server, username, nextVoteAt = null }) =>
    server && !whyOff(deps.config, server, deps.clock.now()) ? [{ server, username, nextVoteAt }] : [],
  );
}

/** Of the newest favourites, those for which the player of the user's last vote may vote now. */
export async function dueFavourites(deps: AppDeps, userId: ObjectId): Promise<Votable[]> {
  const votable = await votableFavourites(deps, userId, MOST_DUE_READ);
  return votable.filter(({ username, nextVoteAt }) => username !== null && nextVoteAt === null);
}

/** For visitors, scripts/voted.js adds the servers for which this browser has voted: only the browser knows them. */
export function otherServers(
  site: Site,
  config: FormSwitch,
  { favourites, similar, now }: OtherServers,
): Html {
  const alike =
    similar.length > 0
      ? section(
          t('Similar servers'),
          '',
          similarCards(site.base, similar, (row) => voteLink(site.base, config, row, { now })),
        )
      : '';
  return html`${favourites ? favouritesPart(site, config, favourites, now) : votedInBrowser()}${alike}`;
}

function section(title: string, detail: Content, body: Html): Html {
  return html`<section class="other-servers"><header><h2>${title}</h2>${detail}</header>${body}</section>`;
}

function favouritesPart(site: Site, config: FormSwitch, rows: Votable[], now: Date): Content {
  if (rows.length === 0) return '';
  const due = rows.filter(({ nextVoteAt }) => nextVoteAt === null).length;
  const all = counted(rows.length, 'favourite');
  const detail = html`<p class="soft small">${t('{due} of {all} are due', { due, all })}
    · <a href="${site.base}/favourites">${t('Your favourites')}</a></p>`;
  const shown = rows.slice(0, MOST_FAVOURITES_SHOWN);
  return section(
    t('Vote for your other servers'),
    detail,
    html`<ul class="due-list">${shown.map((row) => dueRow(site.base, config, row, now))}</ul>`,
  );
}

function dueRow(
  base: string,
  config: FormSwitch,
  { server, username, nextVoteAt }: Votable,
  now: Date,
): Html {
  const { name, game, slug } = server;
  const pictured = { ...picturedServer(server), slug };
  const action = nextVoteAt
    ? html`<p class="wait">${icon('clock')} ${relative(nextVoteAt, now)}</p>`
    : voteLink(base, config, server, { now, username });
  const detail = nextVoteAt
    ? t('Voted less than {hours} hours ago', { hours: COOLDOWN_HOURS })
    : gameName(game);
  return html`<li class="due-row ${nextVoteAt ? 'waits' : ''}">
    ${bannerLink(base, pictured)}${serverIcon(base, pictured, 48)}<div class="what">
    <h3><a href="${base}${publicPath(server)}"><bdi>${name}</bdi></a></h3>
    <p class="meta"><span>${detail}</span></p></div>${action}</li>`;
}

/** scripts/voted.js fills and shows the list, with these texts. */
export function votedInBrowser(): Html {
  const texts = {
    vote: t('Vote'),
    voted: t('Voted less than {hours} hours ago', { hours: COOLDOWN_HOURS }),
    due: t('You voted here before'),
  };
  const detail = html`<p class="soft small">${t('This list is stored in your browser only.')}</p>`;
  const list = html`<ul class="due-list" data-texts="${JSON.stringify(texts)}"></ul>`;
  return html`<div data-voted-list hidden>${section(t('Vote for your other servers'), detail, list)}</div>`;
}
