import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { WithId } from 'mongodb';
import { type GoalProgress, goalOf } from '../../goals/goal-progress.ts';
import { type ServerInfo, serverInfo } from '../../history/server-info.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readPicture } from '../../servers/pictures.ts';
import type { Server } from '../../servers/server.ts';
import { limitImages } from '../limited-pages.ts';
import { inDrawnSlot, inPageSlot } from '../page-slots.ts';
import { CACHED, FILE } from '../route-options.ts';
import { type PublicBody, sendPublic } from '../send-public-page.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count, counted } from '../shared/format.ts';
import { goalBar, toGo } from '../shared/goal-parts.ts';
import { type Html, html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { BADGE, publicPath } from '../shared/server-paths.ts';
import { drawBanner } from './banner-drawing.ts';
import { bannerImage, bannerSizeOf } from './banner-image.ts';
import { CARD_COLOURS } from './card-colours.ts';
import { previewImage } from './preview-image.ts';
import { followingRenames, serverByCurrentSlug, slugOfRequest } from './server-of-path.ts';
import { fitted, imageText, svgImage, textWidth } from './svg-text.ts';

/** Any site may embed the images. One that is opened as a page cannot load or run anything. */
const EMBEDDABLE = { 'cross-origin-resource-policy': 'cross-origin' };
const SVG = 'image/svg+xml; charset=utf-8';
const SANDBOXED = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** What other sites embed. `card.png` is for previews of links. */
export function serverImages(app: FastifyInstance, deps: AppDeps): void {
  const infoOf = (server: WithId<Server>) => serverInfo(deps, server);
  const withGoal = (server: WithId<Server>) => Promise.all([infoOf(server), goalOf(deps, server)]);
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    file: string,
    type: string,
    draw: (server: WithId<Server>) => Promise<PublicBody>,
    { headers = SANDBOXED, inSlot = inPageSlot } = {},
  ) => {
    const slug = slugOfRequest(request);
    return followingRenames(request, reply.headers(EMBEDDABLE), () =>
      sendPublic(request, reply, `/servers/${slug}/${file}`, {
        type,
        headers,
        inSlot,
        limit: () => limitImages(request),
        make: async () => draw(await serverByCurrentSlug(deps, slug)),
      }),
    );
  };
  app.get('/servers/:slug/banner.svg', CACHED, (request, reply) =>
    send(request, reply, 'banner.svg', SVG, async (server) => {
      const [info, goal] = await withGoal(server);
      return String(drawBanner(info, app.site.name, goal));
    }),
  );
  app.get('/servers/:slug/badge.svg', CACHED, (request, reply) =>
    send(request, reply, 'badge.svg', SVG, async (server) => String(drawBadge(await infoOf(server)))),
  );
  app.get('/servers/:slug/banner.png', CACHED, async (request, reply) => {
    const size = bannerSizeOf(request);
    const draw = (server: WithId<Server>) => bannerImage(deps, request, server, size);
    const file = `banner.png?size=${size}`;
    return send(request, reply, file, 'image/png', draw, { inSlot: inDrawnSlot });
  });
  app.get('/servers/:slug/card.png', CACHED, (request, reply) =>
    send(request, reply, 'card.png', 'image/png', (server) => previewImage(deps, request, server)),
  );
  app.get('/servers/:slug/widget', CACHED, (request, reply) =>
    send(
      request,
      reply.removeHeader('x-frame-options'),
      'widget',
      'text/html; charset=utf-8',
      async (server) => {
        const [info, goal] = await withGoal(server);
        return String(await widgetPage(app.site, info, goal));
      },
      { headers: WIDGET_HEADERS },
    ),
  );
}

const BACKGROUNDS = { online: '#12656b', offline: '#96281b', unknown: '#4b6065' } as const;

/** A badge for a README or a forum signature. */
export function drawBadge(info: ServerInfo): Html {
  const { height } = BADGE;
  const name = fitted(imageText(info.name), 11, 160);
  const players = playersText(info);
  const [left, right] = [name, players].map((text) => Math.ceil(textWidth(text, 11)) + 16) as [
    number,
    number,
  ];
  const width = left + right;
  const drawing = html`<rect width="${width}" height="${height}" rx="3" fill="${CARD_COLOURS.deep}"/>
<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v${height - 6}a3 3 0 0 1 -3 3h${3 - right}z"
  fill="${BACKGROUNDS[info.status]}"/>
<g font-size="11" fill="#ffffff" text-anchor="middle">
<text x="${left / 2}" y="14">${name}</text>
<text x="${left + right / 2}" y="14">${players}</text>
</g>`;
  return svgImage({ width, height, label: `${name}: ${players}`, drawing });
}

/** Any site may show the widget in a frame. It cannot run scripts or send forms. */
const WIDGET_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
  'referrer-policy': 'no-referrer',
};

function widgetPage(site: Site, info: ServerInfo & { slug: string }, goal: GoalProgress | null): Html {
  const page = `${site.url}${publicPath(info)}`;
  const facts = [
    playersText(info),
    `rank ${count(info.rankPosition)}`,
    goal ? `vote goal: ${toGo(goal)}` : `${counted(info.monthlyVotes, 'vote')} this month`,
  ];
  const vote = html`<a class="button" href="${page}/vote" target="_blank" rel="noopener">Vote</a>`;
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>${info.name} · ${site.name}</title>
    <link rel="stylesheet" href="${site.asset('widget.css')}" />
    ${site.accentStyle ? html`<link rel="stylesheet" href="${site.accentStyle}" />` : ''}
  </head>
  <body>
    <main>
      <h1><a href="${page}" target="_blank" rel="noopener"><bdi>${info.name}</bdi></a></h1>
      <p><span class="dot ${info.status}"></span>${facts.join(' · ')}</p>
      ${goal ? goalBar(goal) : ''}
      <p class="actions">
        ${info.listingPause ? '' : vote} <span>${info.listingPause ? 'Listed ' : ''}on ${site.name}</span>
      </p>
    </main>
  </body>
</html>`;
}

/** A deleted picture may be served for up to a minute more. */
const CACHE = { maxSize: 16 * 1_024 * 1_024, ttl: MINUTE };

/** A picture's address contains the hash of its bytes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Icons and banners. All stored pictures are WebP files that Tallyport encoded. */
export function pictures(app: FastifyInstance, deps: AppDeps): void {
  const cache = new LRUCache<string, Buffer>({ ...CACHE, sizeCalculation: (bytes) => bytes.length + 1 });

  app.get('/pictures/:file', FILE, async (request, reply) => {
    const { file } = request.params as { file: string };
    const [, id = ''] = /^([0-9a-f]{64})\.webp$/.exec(file) ?? [];
    const cached = cache.get(id);
    if (id && !cached) await limitImages(request);
    const bytes = cached ?? (id ? await readPicture(deps, id) : null);
    if (!bytes)
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
