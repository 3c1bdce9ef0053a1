import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { isKnownTag } from '../http/if-none-match.ts';
import { once } from '../platform/once.ts';
import { limitImages } from './limited-pages.ts';
import { DOWNLOAD } from './route-options.ts';

/** The path of the relay's jar below the site's base. It has no hash, so that documents can contain the path. */
export const RELAY_JAR_PATH = '/downloads/tallyport-relay.jar';

/** The jar with its ETag. It is read once per process. */
const jar = once(async () => {
  const bytes = await readFile(new URL('../../relay/tallyport-relay.jar', import.meta.url));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
});

/**
 * Serves the jar of the relay (docs/relay.md), which owners run beside their game servers. Browsers save it as a file.
 * Caches must revalidate it after an hour, because an upgrade replaces it under the same path.
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
