import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { FILE } from '../route-options.ts';
import { countryName } from './country-names.ts';
import { type Html, html } from './html.ts';

const require = createRequire(import.meta.url);
const { version } = require('country-flag-icons/package.json') as { version: string };

const FOLDER = new URL('3x2/', import.meta.resolve('country-flag-icons'));

const CODES = (await readdir(FOLDER)).flatMap((file) => /^([A-Z]{2})\.svg$/.exec(file)?.[1] ?? []);
const HAS_FLAG = new Set(CODES);

/** With the package's version, so caches may keep the file for ever. */
const path = (code: string) => `/assets/flags-${version}/${code}.svg`;

export function serveFlags(app: FastifyInstance): void {
  app.get(path(':code'), FILE, async (request, reply) => {
    const { code } = request.params as { code: string };
    if (!HAS_FLAG.has(code)) return reply.callNotFound();
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type('image/svg+xml')
      .send(await readFile(new URL(`${code}.svg`, FOLDER)));
  });
}

export function country(base: string, code: string): Html {
  const src = `${base}${path(code)}`;
  const flag = HAS_FLAG.has(code) ? html`<img src="${src}" alt="" width="18" height="12" />` : '';
  return html`<span class="country">${flag}${countryName(code)}</span>`;
}
