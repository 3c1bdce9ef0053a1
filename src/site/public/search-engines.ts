import type { FastifyInstance } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import { listedSlugs, readListingSummary } from '../../ranking/read-lists.ts';
import { PageError } from '../error-pages.ts';
import { CACHED } from '../route-options.ts';
import { sendPublic } from '../send-public-page.ts';
import { html } from '../shared/html.ts';
import type { PublicParts } from './public-parts.ts';
import { gamePath } from './ranking-query.ts';

/** The number of addresses per sitemap. The protocol allows 50,000, but smaller files are made faster. */
const ADDRESSES_PER_FILE = 10_000;

const XML = 'application/xml; charset=utf-8';
const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Paths that search engines must not visit: private pages and search results. */
const DISALLOWED = [
  '/dashboard',
  '/operator',
  '/account',
  '/favourites',
  '/api/',
  '/servers/random',
  '/*?q=',
  '/*&q=',
];

/** `/robots.txt` and the sitemaps: an index, and the files in it. */
export function forSearchEngines(app: FastifyInstance, { deps }: PublicParts): void {
  const { base, url } = app.site;

  app.get('/robots.txt', CACHED, (request, reply) =>
    sendPublic(request, reply, '/robots.txt', {
      type: 'text/plain; charset=utf-8',
      make: async () =>
        [
          'User-agent: *',
          ...DISALLOWED.map((path) => `Disallow: ${base}${path}`),
          '',
          `Sitemap: ${url}/sitemap.xml`,
          '',
        ].join('\n'),
    }),
  );

  app.get('/sitemap.xml', CACHED, (request, reply) =>
    sendPublic(request, reply, '/sitemap.xml', {
      type: XML,
      make: async () => {
        const { servers } = await readListingSummary(deps);
        const files = Array.from(
          { length: Math.max(1, Math.ceil(servers / ADDRESSES_PER_FILE)) },
          (_, i) => i + 1,
        );
        const entries = files.map(
          (file) => html`<sitemap><loc>${url}/sitemaps/${file}.xml</loc></sitemap>\n`,
        );
        return XML_HEAD + (await html`<sitemapindex xmlns="${NAMESPACE}">\n${entries}</sitemapindex>\n`);
      },
    }),
  );

  app.get('/sitemaps/:file', CACHED, async (request, reply) => {
    const [, number] = /^([1-9]\d{0,4})\.xml$/.exec((request.params as { file: string }).file) ?? [];
    if (!number) throw new PageError(404, defineMessage('This site map does not exist.'));
    return sendPublic(request, reply, `/sitemaps/${number}.xml`, {
      type: XML,
      make: async () => {
        // A decoration of `cachePublicPages`.
        await app.limitPages(request);
        const file = Number(number);
        const slugs = await listedSlugs(deps, {
          skip: (file - 1) * ADDRESSES_PER_FILE,
          limit: ADDRESSES_PER_FILE,
        });
        if (slugs.length === 0 && file > 1)
          throw new PageError(404, defineMessage('This site map does not exist.'));
        const { games } = await readListingSummary(deps);
        const fixed =
          file === 1
            ? ['/', '/how-ranking-works', '/docs/', ...games.map(({ value }) => gamePath(value))]
            : [];
        const paths = [...fixed, ...slugs.map((slug) => `/servers/${slug}`)];
        const entries = paths.map((path) => html`<url><loc>${url}${path}</loc></url>\n`);
        return XML_HEAD + (await html`<urlset xmlns="${NAMESPACE}">\n${entries}</urlset>\n`);
      },
    });
  });
}
