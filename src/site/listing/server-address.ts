import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import type { Platform } from '../../process/platform.ts';
import { findServer } from '../../servers/listing.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { publicPath } from '../server-paths.ts';

/** A renamed server may take an old name back, so browsers ask again after this time. */
const REDIRECT_SECONDS = 60;

/** The server was asked for by an earlier slug, by its id, or in capital letters. */
class HasAnotherAddress extends Error {
  readonly slug: string;

  constructor(slug: string) {
    super(`the server stands under ${slug}`);
    this.name = 'HasAnotherAddress';
    this.slug = slug;
  }
}

/** Why there is no page; the same for a server that never was, was removed or is hidden. */
function noServer(): PageError {
  return new PageError(404, 'No server is listed under this address.');
}

/** A slug or an id, as users may write it. */
const NAMED = /^[a-z0-9-]+$/i;

/**
 * What stands for the server in the address of a request. It stands in the paths of kept pages: a slash or a question
 * mark that was encoded would make it another page's.
 *
 * @throws {PageError} 404 for what can be no server's
 */
export function slugOfRequest(request: FastifyRequest): string {
  const { slug } = request.params as { slug: string };
  if (!NAMED.test(slug)) throw noServer();
  return slug;
}

/**
 * The listed server that an address names; a hidden one only where `maySee` says so.
 *
 * @throws {PageError} 404 when there is none
 */
export async function serverNamed(
  platform: Pick<Platform, 'servers'>,
  slug: string,
  maySee: (hidden: WithId<Server>) => boolean,
): Promise<WithId<Server>> {
  const server = await findServer(platform, slug);
  if (!server || (server.hiddenAt && !maySee(server))) throw noServer();
  return server;
}

/**
 * The same, where the address has to be the server's present one; run inside of `followingRenames`.
 *
 * @throws {PageError} 404 when there is none
 * @throws {HasAnotherAddress}
 */
export async function listedServer(
  platform: Pick<Platform, 'servers'>,
  slug: string,
  maySee: (hidden: WithId<Server>) => boolean = () => false,
): Promise<WithId<Server>> {
  const server = await serverNamed(platform, slug, maySee);
  if (server.slug !== slug) throw new HasAnotherAddress(server.slug);
  return server;
}

/** Sends what `send` does, or on to the same thing under the server's present slug. */
export async function followingRenames(
  request: FastifyRequest,
  reply: FastifyReply,
  send: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof HasAnotherAddress)) throw error;
    const { base } = request.server.site;
    const rest = request.url.slice(`${base}/servers/`.length).replace(/^[^/?]*/, '');
    // It may carry a session, or lead to what others must not know of.
    const isOnes = request.signedIn !== null || reply.hasHeader('set-cookie');
    return reply
      .header('cache-control', isOnes ? 'no-store' : `public, max-age=${REDIRECT_SECONDS}`)
      .redirect(`${base}${publicPath(error)}${rest}`, 301);
  }
}
