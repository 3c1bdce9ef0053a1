import { ObjectId } from 'mongodb';
import { favouriteIds } from '../../favourites/favourites.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasServers } from '../../servers/members.ts';
import { type Content, html } from '../shared/html.ts';

/**
 * The path of a user's start page, which follows a sign-in or sign-up unless the user wanted another page: where the user
 * has something. The dashboard of a user with nothing offers to add a server, and the ranking.
 */
export async function homeOf(deps: AppDeps, base: string, userId: ObjectId): Promise<string> {
  if (await hasServers(deps, userId)) return `${base}/dashboard`;
  const user = await deps.users.findOne({ _id: userId }, { projection: { role: 1 } });
  if (user?.role === 'operator') return `${base}/operator`;
  const draft = await deps.serverDrafts.findOne({ ownerId: userId }, { projection: { _id: 1 } });
  const hasFavourites = !draft && (await favouriteIds(deps, userId)).size > 0;
  return hasFavourites ? `${base}/favourites` : `${base}/dashboard`;
}

/** A sentence above the forms to sign in and up: why the page `next` needs an account. Empty for most pages. */
export async function purposeOf(deps: AppDeps, base: string, next: string): Promise<Content> {
  const [path = ''] = next.split('?');
  if (path === `${base}/dashboard/servers/new`)
    return html`<p>${t('With an account, you list your server: its name and address are enough to begin.')}</p>`;
  if (path !== `${base}/favourites` && !path.startsWith(`${base}/favourites/`)) return '';
  const name = await starredName(deps, path.slice(`${base}/favourites/`.length));
  return name === null
    ? html`<p>${t(
        'With an account, your favourites are on one page, with the time of your next vote for each.',
      )}</p>`
    : html`<p>${t(
        'With an account, <bdi>{server}</bdi> is among your favourites, with the time of your next vote.',
        { server: name },
      )}</p>`;
}

/** The name of the server whose star a visitor clicked; null if no listed server has this id. */
async function starredName({ servers }: AppDeps, id: string): Promise<string | null> {
  if (!/^[0-9a-f]{24}$/.test(id)) return null;
  const listed = { _id: new ObjectId(id), removedAt: null, hiddenAt: null };
  const server = await servers.findOne(listed, { projection: { name: 1 } });
  return server?.name ?? null;
}
