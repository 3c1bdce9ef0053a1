import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { isKnownTag } from '../http/if-none-match.ts';
import { once } from '../platform/once.ts';
import { limitImages } from './limited-pages.ts';
import { DOWNLOAD } from './route-options.ts';

/** Without a hash, so that documents can contain the path. */
export const RELAY_JAR_PATH = '/downloads/tallyport-relay.jar';

const jar = once(async () => {
  const bytes = await readFile(new URL('../../relay/tallyport-relay.jar', import.meta.url));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
});

/**
 * Owners run it beside their game servers (docs/relay.md). An upgrade replaces it under the same path, so caches must
 * revalidate it after an hour.
 */
export function serveRelayJar(app: FastifyInstance): void {
  app.get(RELAY_JAR_PATH, { ...DOWNLOAD, preHandler: limitImages }, async (request, reply) => {
    const { bytes, etag } = await jar();
    reply.headers({
      etag,
      'cache-control': 'public, max-age=3600, no-transform',
      'x-content-type-options': 'nosniff',
    });
    if (isKnownTag(request, etag)) return reply.code(304).send();
    return reply
      .type('application/java-archive')
      .header('content-disposition', 'attachment; filename="tallyport-relay.jar"')
      .send(bytes);
  });
}
