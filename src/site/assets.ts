import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import type { Config } from '../platform/config.ts';
import { once } from '../platform/once.ts';
import { accentRules, accentShades } from './look/accent.ts';
import { APP_ICONS, colouredIcon } from './look/app-icon.ts';
import { GAME_PICTURES } from './look/games/list.ts';
import { type Logo, readLogo } from './look/logo.ts';
import { FILE } from './route-options.ts';

/** scripts/solve.js names the same version in its imports. */
const ALTCHA = 'altcha-lib-2.8.0';

const require = createRequire(import.meta.url);
const here = (file: string) => new URL(file, import.meta.url);

/** If somebody opens an SVG as a page, it can neither run a script nor load anything. */
const OF_IMAGES = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
};

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Without a hash, because the modules of altcha-lib import each other by their file names. */
const ofAltcha = (module: string) =>
  ({
    name: `${ALTCHA}/${module}`,
    file: new URL(module, import.meta.resolve('altcha-lib')),
    type: JAVASCRIPT,
  }) as const;

const PUBLIC_STYLES = [
  'pictures.css',
  'servers.css',
  'home.css',
  'profile.css',
  'vote.css',
  'favourites.css',
];
/** The files that are joined into work.css, in this order. */
const WORK_STYLES = [
  'pictures.css',
  'work.css',
  'own-servers.css',
  'overview.css',
  'delivery.css',
  'figures.css',
  'inbox.css',
];
const CSS = 'text/css; charset=utf-8';
const style = (file: string) => here(`./styles/${file}`);

/** Named in `url("…")` of stylesheets, which need their hashes. */
const STYLED = [
  ...(['bricolage-grotesque.woff2', 'bricolage-grotesque-ext.woff2'] as const).map((name) => ({
    name,
    file: here(`./look/${name}`),
    type: 'font/woff2',
  })),
  ...(['hero.webp', 'hero-small.webp', 'hero-water.webp'] as const).map((name) => ({
    name,
    file: here(`./look/${name}`),
    type: 'image/webp',
  })),
];

/** Pages load nothing from other sites. */
const FILES = [
  { name: 'site.css', file: ['tokens.css', 'site.css', 'charts.css'].map(style), type: CSS },
  { name: 'public.css', file: PUBLIC_STYLES.map(style), type: CSS },
  // The pages with a rail load work.css after site.css.
  { name: 'work.css', file: WORK_STYLES.map(style), type: CSS },
  // The API reference loads them without site.css, whose rules would change Scalar's parts.
  { name: 'tokens.css', file: style('tokens.css'), type: CSS },
  { name: 'docs.css', file: style('docs.css'), type: CSS },
  { name: 'widget.css', file: style('widget.css'), type: CSS },
  { name: 'styleguide.css', file: style('styleguide.css'), type: CSS },
  ...GAME_PICTURES.map(
    (game) =>
      ({ name: `game-${game}.svg`, file: here(`./look/games/${game}.svg`), type: 'image/svg+xml' }) as const,
  ),
  ...APP_ICONS.map(({ name }) => ({ name, file: here(`./look/${name}`), type: 'image/png' }) as const),
  { name: 'empty.svg', file: here('./look/empty.svg'), type: 'image/svg+xml' },
  { name: 'theme.js', file: here('./scripts/theme.js'), type: JAVASCRIPT },
  { name: 'page.js', file: here('./scripts/page.js'), type: JAVASCRIPT },
  { name: 'htmx.js', file: require.resolve('htmx.org/dist/htmx.min.js'), type: JAVASCRIPT },
  { name: 'inbox.js', file: here('./scripts/inbox.js'), type: JAVASCRIPT },
  { name: 'charts.js', file: here('./scripts/charts.js'), type: JAVASCRIPT },
  { name: 'vote.js', file: here('./scripts/vote.js'), type: JAVASCRIPT },
  { name: 'voted.js', file: here('./scripts/voted.js'), type: JAVASCRIPT },
  { name: 'reminders.js', file: here('./scripts/reminders.js'), type: JAVASCRIPT },
  { name: 'solve.js', file: here('./scripts/solve.js'), type: JAVASCRIPT },
  { name: 'setup.js', file: here('./scripts/setup.js'), type: JAVASCRIPT },
  ...['pow.js', 'helpers.js', 'types.js', 'algorithms/web/pbkdf2.js'].map(ofAltcha),
] as const;

export type AssetName = (typeof FILES | typeof STYLED)[number]['name'];

export type Assets = {
  logo: Logo & { path: string; isOwn: boolean };
  /**
   * Below the site's base. It contains a hash of the content, or the version of altcha-lib, so caches may keep the file
   * for ever.
   */
  path(name: AssetName): string;
  serve(app: FastifyInstance): void;
};

/** Gzip would not make these smaller. */
const PACKED = ['font/woff2', 'image/webp', 'image/png'];

async function read({ name, file, type }: { name: string; file: URL | string | URL[]; type: string }) {
  const parts = await Promise.all([file].flat().map((part) => readFile(part)));
  return asset({ name, type }, Buffer.concat(parts));
}

function asset({ name, type }: { name: string; type: string }, plain: Buffer) {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 12);
  return {
    name,
    type,
    path: `/assets/${name.startsWith(ALTCHA) ? name : name.replace('.', `.${hash}.`)}`,
    plain,
    bodies: once(() => compressOnce(plain)),
  };
}

async function readFiles() {
  const [styled, others] = await Promise.all([STYLED, FILES].map((group) => Promise.all(group.map(read))));
  const addresses = new Map(styled?.map(({ name, path }) => [name, path.replace('/assets/', '')]));
  const withAddresses = (text: string) =>
    text.replace(/url\("([\w.-]+)"\)/g, (whole, name: string) => {
      const address = addresses.get(name);
      return address ? `url("${address}")` : whole;
    });
  return [
    ...(styled ?? []),
    ...(others ?? []).map((one) =>
      one.type === CSS ? asset(one, Buffer.from(withAddresses(String(one.plain)))) : one,
    ),
  ];
}

async function readLogoFile(file: string) {
  const logo = await readLogo(file);
  return { logo, logoFile: asset({ name: `logo.${logo.extension}`, type: logo.type }, logo.bytes) };
}

let files: ReturnType<typeof readFiles> | undefined;
const readOurLogo = once(() => readLogoFile(fileURLToPath(here('./tallyport.svg'))));

/** @throws {ConfigError} as `readLogo`, for the operator's logo */
export async function loadAssets({ LOGO: file }: Pick<Config, 'LOGO'>): Promise<Assets> {
  files ??= readFiles();
  const ours = await files;
  const { logo, logoFile } = await (file === undefined ? readOurLogo() : readLogoFile(file));
  const loaded = [logoFile, ...ours];
  const paths = new Map<string, string>(loaded.map(({ name, path }) => [name, path]));
  return {
    logo: { ...logo, path: logoFile.path, isOwn: file !== undefined },
    path: (name) => paths.get(name) ?? '',
    serve(app) {
      for (const { path, type, plain, bodies } of loaded) {
        app.get(path, FILE, async (request, reply) =>
          reply
            .headers({ ...FOR_EVER, ...(type.startsWith('image/') ? OF_IMAGES : {}) })
            .type(type)
            .send(PACKED.includes(type) ? plain : encodedFor(request, reply, await bodies())),
        );
      }
      // The colour is in the path, so a process that has not read the new setting yet can serve it.
      app.get(accentPath(':colour'), FILE, async (request, reply) => {
        const { colour } = request.params as { colour: string };
        if (!/^[0-9a-f]{6}$/.test(colour)) return reply.callNotFound();
        return reply
          .headers(FOR_EVER)
          .type(CSS)
          .send(accentRules(`#${colour}`));
      });
      app.get(accentLogoPath(':colour'), FILE, async (request, reply) => {
        const { colour } = request.params as { colour: string };
        if (!/^[0-9a-f]{6}$/.test(colour)) return reply.callNotFound();
        const { bytes, type } = (await readOurLogo()).logo;
        const { accent } = accentShades(`#${colour}`).light;
        return reply
          .headers({ ...FOR_EVER, ...OF_IMAGES })
          .type(type)
          .send(String(bytes).replace(/#12656b/g, accent));
      });
      app.get(accentIconPath(':colour', ':icon'), FILE, async (request, reply) => {
        const { colour, icon } = request.params as { colour: string; icon: string };
        const file = APP_ICONS.some(({ name }) => name === icon) && ours.find(({ name }) => name === icon);
        if (!file || !/^[0-9a-f]{6}$/.test(colour)) return reply.callNotFound();
        return reply
          .headers({ ...FOR_EVER, ...OF_IMAGES })
          .type(file.type)
          .send(colouredIcon(file.plain, accentShades(`#${colour}`).light.accent));
      });
    },
  };
}

const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable' };

export function accentPath(colour: string): string {
  return `/assets/accent/${colour.replace('#', '')}.css`;
}

/** One of `APP_ICONS` in the operator's colour. */
export function accentIconPath(colour: string, icon: string): string {
  return `/assets/accent/${colour.replace('#', '')}/${icon}`;
}

/** Our logo in the operator's colour. */
export function accentLogoPath(colour: string): string {
  return `/assets/accent/${colour.replace('#', '')}.svg`;
}
