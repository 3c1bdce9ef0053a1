import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { MINUTE } from '../../platform/clock.ts';
import { readPicture } from '../../servers/pictures.ts';
import { limitImages } from '../limited-pages.ts';
import { FILE } from '../route-options.ts';
import type { PublicParts } from './public-parts.ts';

/** Pictures are cached in memory, to save reads of MongoDB. A deleted picture may be served for up to a minute more. */
const CACHE = { maxSize: 16 * 1_024 * 1_024, ttl: MINUTE };

/** The bytes behind a picture's address never change, because the address contains their hash. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** `/pictures/<hash>.webp`: icons and banners. All stored pictures are WebP files that Tallyport encoded. */
export function pictures(app: FastifyInstance, { deps }: Pick<PublicParts, 'deps'>): void {
  const cache = new LRUCache<string, Buffer>({ ...CACHE, sizeCalculation: (bytes) => bytes.length + 1 });

  app.get('/pictures/:file', FILE, async (request, reply) => {
    const { file } = request.params as { file: string };
    const [, id] = /^([0-9a-f]{64})\.webp$/.exec(file) ?? [];
    const cached = id === undefined ? undefined : cache.get(id);
    if (id !== undefined && !cached) await limitImages(request);
    const bytes = id === undefined ? null : (cached ?? (await readPicture(deps, id)));
    if (id === undefined || !bytes)
      return reply
        .code(404)
        .header('cache-control', 'no-store')
        .type('text/plain; charset=utf-8')
        .send('There is no such picture.\n');
    // A cached picture is not stored again: that would restart its TTL, so a deleted picture could be served for ever.
    if (!cached) cache.set(id, bytes);
    return reply
      .headers({
        'cache-control': FOR_EVER,
        'content-security-policy': "default-src 'none'; sandbox",
        etag: `"${id}"`,
        'x-content-type-options': 'nosniff',
      })
      .type('image/webp')
      .send(bytes);
  });
}
