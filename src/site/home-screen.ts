import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { isKnownTag } from '../http/if-none-match.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { readPicture } from '../servers/pictures.ts';
import { type Assets, accentIconPath } from './assets.ts';
import { limitImages } from './limited-pages.ts';
import { accentShades } from './look/accent.ts';
import { APP_ICONS, ownAppIcon } from './look/app-icon.ts';
import { FILE } from './route-options.ts';
import type { Site } from './shared/decorate-site.ts';

const OWN_ICON_PATH = '/app-icon.svg';

/** `--deep` and `--ground` of tokens.css in light colours. */
const DEEP = '#0c3b41';
const BACKGROUND = '#eaf0ef';

/** A colour of the operator. */
type Look = Pick<AppDeps['config'], 'ACCENT_COLOUR' | 'LOGO_PICTURE'>;

const groundOf = ({ ACCENT_COLOUR: colour }: Look) => (colour ? accentShades(colour).light.deep : DEEP);

const WORKER = readFileSync(new URL('./scripts/service-worker.js', import.meta.url), 'utf8');

const hashOf = (...parts: unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);

/** What a phone needs to keep the site on its home screen: the manifest, an icon, and a service worker. */
export function homeScreen(app: FastifyInstance, deps: AppDeps, assets: Assets): void {
  const { config } = deps;

  app.get('/manifest.webmanifest', FILE, (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=300')
      .type('application/manifest+json')
      .send(JSON.stringify(manifestOf(app.site, config))),
  );

  app.get(OWN_ICON_PATH, FILE, async (request, reply) => {
    await limitImages(request);
    const logo = await ownLogo(deps, assets);
    if (!logo) return reply.callNotFound();
    return reply
      .headers({
        'cache-control': 'public, max-age=3600',
        'content-security-policy': "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
        'x-content-type-options': 'nosniff',
      })
      .type('image/svg+xml')
      .send(ownAppIcon(logo, groundOf(config)));
  });

  // Browsers compare its bytes at each visit. If what the offline page shows has changed, they install it again.
  app.get('/service-worker.js', FILE, (request, reply) => {
    const { name, logo, accentStyle } = app.site;
    const hash = hashOf(name, logo.href, accentStyle, app.site.asset('site.css'));
    const etag = `"${hashOf(WORKER, hash)}"`;
    reply.headers({ etag, 'cache-control': 'no-cache' });
    if (isKnownTag(request, etag)) return reply.code(304).send();
    return reply.type('text/javascript; charset=utf-8').send(`${WORKER}// ${hash}\n`);
  });
}

/** https://www.w3.org/TR/appmanifest */
function manifestOf(site: Site, config: Look) {
  const { base, name } = site;
  const home = `${base}/`;
  return {
    id: home,
    name,
    start_url: home,
    scope: home,
    display: 'standalone',
    theme_color: groundOf(config),
    background_color: BACKGROUND,
    icons: iconsOf(site, config),
  };
}

function iconsOf({ base, logo, asset }: Site, config: Look) {
  if (logo.isOwn) {
    const src = `${base}${OWN_ICON_PATH}?of=${hashOf(logo.path, groundOf(config))}`;
    return ['any', 'maskable'].map((purpose) => ({ src, sizes: 'any', type: 'image/svg+xml', purpose }));
  }
  return APP_ICONS.map(({ name, side, purpose }) => ({
    src: config.ACCENT_COLOUR ? `${base}${accentIconPath(config.ACCENT_COLOUR, name)}` : asset(name),
    sizes: `${side}x${side}`,
    type: 'image/png',
    purpose,
  }));
}

async function ownLogo(deps: AppDeps, assets: Assets) {
  const { LOGO_PICTURE: uploaded } = deps.config;
  if (!uploaded) return assets.logo.isOwn ? assets.logo : null;
  const bytes = await readPicture(deps, uploaded.id);
  return bytes && ({ bytes, type: 'image/webp' } as const);
}
