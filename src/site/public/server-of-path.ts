import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { findServer } from '../../servers/listed-servers.ts';
import { RENAMED_SECONDS, RenamedError } from '../../servers/renamed-error.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { publicPath } from '../shared/server-paths.ts';

/** Nobody can find out whether the server never existed, was removed or is hidden. */
function noServer(): PageError {
  return new PageError(404, t('No server is listed at this address.'));
}

const SLUG_OR_ID = /^[a-z0-9-]+$/i;

/** 404 for other characters: with an encoded `/` or `?`, a cache key could become that of another page. */
export function slugOfRequest(request: FastifyRequest): string {
  const { slug } = request.params as { slug: string };
  if (!SLUG_OR_ID.test(slug)) throw noServer();
  return slug;
}

/** The listed server with this slug, earlier slug or id; otherwise 404. A hidden server needs `maySee`. */
export async function serverBySlugOrId(
  deps: AppDeps,
  slug: string,
  maySee: (hidden: WithId<Server>) => boolean,
): Promise<WithId<Server>> {
  const server = await findServer(deps, slug);
  if (!server || (server.hiddenAt && !maySee(server))) throw noServer();
  return server;
}

/** For use inside `followingRenames`, which redirects from earlier slugs and ids. */
export async function serverByCurrentSlug(
  deps: AppDeps,
  slug: string,
  maySee: (hidden: WithId<Server>) => boolean = () => false,
): Promise<WithId<Server>> {
  const server = await serverBySlugOrId(deps, slug, maySee);
  if (server.slug !== slug) throw new RenamedError(server.slug);
  return server;
}

/** Also by an earlier slug: a redirect would lose what the user typed. */
export function serverOfForm(deps: AppDeps, request: FastifyRequest): Promise<WithId<Server>> {
  return serverBySlugOrId(deps, slugOfRequest(request), () => false);
}

export async function followingRenames(
  request: FastifyRequest,
  reply: FastifyReply,
  send: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof RenamedError)) throw error;
    const { base } = request.server.site;
    const rest = request.url.slice(`${base}/servers/`.length).replace(/^[^/?]*/, '');
    // The redirect must not be cached if it contains a session cookie or reveals a hidden server.
    const isPrivate = request.signedIn !== null || reply.hasHeader('set-cookie');
    return reply
      .header('cache-control', isPrivate ? 'no-store' : `public, max-age=${RENAMED_SECONDS}`)
      .redirect(`${base}${publicPath(error)}${rest}`, 301);
  }
}
