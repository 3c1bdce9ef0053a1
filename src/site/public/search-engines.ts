import type { FastifyInstance } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { addressesOf, readListingSummary } from '../../ranking/read-lists.ts';
import { readTags } from '../../servers/tag-list.ts';
import { PageError } from '../error-pages.ts';
import { CACHED } from '../route-options.ts';
import { sendPublic } from '../send-public-page.ts';
import { html } from '../shared/html.ts';
import { publicPath } from '../shared/server-paths.ts';
import { gamePath, tagPath } from './ranking-query.ts';

/** The protocol allows 50,000, but smaller files are made faster. */
const ADDRESSES_PER_FILE = 10_000;

const XML = 'application/xml; charset=utf-8';
const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Private pages, the API, redirects to random servers, and searches. */
const DISALLOWED = [
  '/dashboard',
  '/operator',
  '/account',
  '/favourites',
  '/reminders',
  '/api/',
  '/servers/random',
  '/*?q=',
  '/*&q=',
];

/** The sitemaps: an index, a file with lists and other pages, and files with servers by game. */
export function forSearchEngines(app: FastifyInstance, deps: AppDeps): void {
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
        const { games, withoutGame = 0 } = await readListingSummary(deps);
        const files = [...games, { value: WITHOUT_GAME, servers: withoutGame }].flatMap(
          ({ value, servers }) =>
            Array.from(
              { length: Math.ceil(servers / ADDRESSES_PER_FILE) },
              (_, i) => `${value}-${i + 1}.xml`,
            ),
        );
        const entries = [PAGES, ...files].map(
          (file) => html`<sitemap><loc>${url}/sitemaps/${file}</loc></sitemap>\n`,
        );
        return XML_HEAD + (await html`<sitemapindex xmlns="${NAMESPACE}">\n${entries}</sitemapindex>\n`);
      },
    }),
  );

  app.get('/sitemaps/:file', CACHED, async (request, reply) => {
    const { file } = request.params as { file: string };
    const part = partOf(file);
    if (file !== PAGES && !part) throw noSuchMap();
    return sendPublic(request, reply, `/sitemaps/${file}`, {
      type: XML,
      limit: () => app.limitPages(request),
      make: async () => {
        const found = part ? await serversOf(part) : await pages();
        const entries = found.map(
          ({ path, changedAt }) =>
            html`<url><loc>${url}${path}</loc>${
              changedAt ? html`<lastmod>${changedAt.toISOString()}</lastmod>` : ''
            }</url>\n`,
        );
        return XML_HEAD + (await html`<urlset xmlns="${NAMESPACE}">\n${entries}</urlset>\n`);
      },
    });
  });

  /** Without times of change, because each ranking changes the lists. */
  async function pages(): Promise<Entry[]> {
    const [{ games, tags = [] }, known] = await Promise.all([readListingSummary(deps), readTags(deps)]);
    const keys = new Set(known.map(({ key }) => key));
    const ofGames = games.map(({ value }) => gamePath(value));
    const ofTags = tags.filter(({ value }) => keys.has(value)).map(({ value }) => tagPath(value));
    // An empty list of games or tags is not for search engines.
    const lists = [...(ofGames.length > 0 ? ['/games'] : []), ...(ofTags.length > 0 ? ['/tags'] : [])];
    return ['/', '/how-ranking-works', '/docs/', ...lists, ...ofGames, ...ofTags].map((path) => ({ path }));
  }

  async function serversOf({ game, file }: Part): Promise<Entry[]> {
    const skip = (file - 1) * ADDRESSES_PER_FILE;
    const found = await addressesOf(deps, game, { skip, limit: ADDRESSES_PER_FILE });
    if (found.length === 0) throw noSuchMap();
    return found.map((server) => ({ path: publicPath(server), changedAt: server.changedAt }));
  }
}

type Entry = { path: string; changedAt?: Date | null | undefined };

const PAGES = 'pages.xml';
/** No id of a game has a hyphen. */
const WITHOUT_GAME = 'without-game';

/** `game` is null for servers without a game. `file` numbers the files of one game from 1. */
type Part = { game: string | null; file: number };

function partOf(name: string): Part | null {
  const [, game, file] = /^([a-z0-9]{1,50}|without-game)-([1-9]\d{0,3})\.xml$/.exec(name) ?? [];
  if (!game) return null;
  return { game: game === WITHOUT_GAME ? null : game, file: Number(file) };
}

function noSuchMap(): PageError {
  return new PageError(404, defineMessage('This site map does not exist.'));
}
