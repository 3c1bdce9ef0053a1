import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { READ_API_OFF } from '../../../http/error-codes.ts';
import { RefusedError } from '../../../http/http-errors.ts';
import { RENAMED_SECONDS, RenamedError } from '../../../servers/renamed-error.ts';
import { looksLikeId } from '../../../servers/slug.ts';
import { answer, failure } from '../schemas.ts';

export const slugParams = z.object({
  slug: z.string().meta({
    description: 'The slug of the server, or its id. A former slug redirects to the present one.',
    examples: ['harbour-lights'],
  }),
});

const SENTENCE = 'No server is listed under this name.';

export const MOVED = answer(z.null(), 'The slug is a former one of the server.', {
  Location: { type: 'string', description: 'The same call with the present slug.' },
});

export const NO_SERVER = failure(
  404,
  `${READ_API_OFF} Or no server is listed under this name: it is unknown, hidden or removed.`,
  undefined,
  ['not-found', 'disabled'],
);

/** Nobody can find out whether the server never existed, was removed or is hidden. */
export function noServer(): RefusedError {
  return new RefusedError({ status: 404, code: 'not-found', sentence: SENTENCE });
}

/**
 * The server that `read` finds by the slug or id of the path. For use inside `followingRenames`.
 * @throws {RefusedError} 404
 */
export async function serverNamed<S extends { slug: string }>(
  named: string,
  read: (idOrSlug: string) => Promise<S | null>,
): Promise<S> {
  const found = await read(named.toLowerCase());
  if (!found) throw noServer();
  if (found.slug !== named && !looksLikeId(named)) throw new RenamedError(found.slug);
  return found;
}

/** Redirects from a former slug. */
export async function followingRenames<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  send: () => Promise<T>,
): Promise<T | FastifyReply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof RenamedError)) throw error;
    // The slug is the only parameter of these routes.
    const path = String(request.routeOptions.url).replace(/:\w+/, error.slug);
    const [, query = ''] = /(\?.*)$/s.exec(request.url) ?? [];
    reply.header('cache-control', `public, max-age=${RENAMED_SECONDS}`);
    return reply.redirect(`${path}${query}`, 301);
  }
}
