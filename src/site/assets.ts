import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { encodedFor } from '../process/compressed.ts';

/** Its version is part of its path, and of the imports in scripts/solve.js. */
const ALTCHA = 'altcha-lib-2.8.0';

const require = createRequire(import.meta.url);
const here = (file: string) => new URL(file, import.meta.url);

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** A module of altcha-lib, for the worker. Its modules import each other by name, so their paths have no hash. */
const ofAltcha = (module: string) =>
  ({
    name: `${ALTCHA}/${module}`,
    file: new URL(module, import.meta.resolve('altcha-lib')),
    type: JAVASCRIPT,
  }) as const;

/** Every file that a page may load. All of them come from this server. */
const FILES = [
  { name: 'site.css', file: here('./site.css'), type: 'text/css; charset=utf-8' },
  { name: 'widget.css', file: here('./widget.css'), type: 'text/css; charset=utf-8' },
  { name: 'page.js', file: here('./scripts/page.js'), type: JAVASCRIPT },
  {
    name: 'htmx.js',
    file: require.resolve('htmx.org/dist/htmx.min.js'),
    type: JAVASCRIPT,
  },
  { name: 'vote.js', file: here('./scripts/vote.js'), type: JAVASCRIPT },
  { name: 'solve.js', file: here('./scripts/solve.js'), type: JAVASCRIPT },
  { name: 'tallyport.svg', file: here('./tallyport.svg'), type: 'image/svg+xml' },
  ...['pow.js', 'helpers.js', 'types.js', 'algorithms/web/pbkdf2.js'].map(ofAltcha),
] as const;

export type AssetName = (typeof FILES)[number]['name'];

export type Assets = {
  /** The path of a file under the site's base. It contains the content's hash, so caches may keep it for ever. */
  path(name: AssetName): string;
  /** Registers the routes. */
  serve(app: FastifyInstance): void;
};

async function compress({ name, file, type }: (typeof FILES)[number]) {
  const plain = await readFile(file);
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 12);
  return {
    name,
    type,
    path: `/assets/${name.startsWith(ALTCHA) ? name : name.replace('.', `.${hash}.`)}`,
    bodies: { br: brotliCompressSync(plain), gzip: gzipSync(plain), identity: plain },
  };
}

let compressed: ReturnType<typeof compress>[] | undefined;

/** Reads and compresses the site's files, once in a process: the best compression takes a tenth of a second. */
export async function loadAssets(): Promise<Assets> {
  compressed ??= FILES.map(compress);
  const loaded = await Promise.all(compressed);
  const paths = new Map<AssetName, string>(loaded.map(({ name, path }) => [name, path]));
  return {
    path: (name) => paths.get(name) ?? '',
    serve(app) {
      for (const { path, type, bodies } of loaded) {
        app.get(path, { schema: { hide: true }, config: { access: 'anyone' } }, async (request, reply) => {
          return reply
            .header('cache-control', 'public, max-age=31536000, immutable')
            .type(type)
            .send(encodedFor(request, reply, bodies));
        });
      }
    },
  };
}
