import type { FastifyInstance } from 'fastify';
import type { ConnectedConfig } from '../platform/config.ts';
import type { AssetName, Assets } from './assets.ts';
import type { Access } from './route-access.ts';

/** What every page needs to know of the site it belongs to. */
export type Site = {
  /** The path under which the site stands: `''` or `/listing`. */
  base: string;
  /** The whole address under which it stands, without a slash at its end. */
  url: string;
  /** What the listing calls itself. */
  name: string;
  /** What every page says at its top; empty for nothing. */
  notice: string;
  /** The address of one of the site's own files. */
  asset(name: AssetName): string;
  /** Every route of the site, with whom it is for. */
  routes: { method: string; url: string; access: Access }[];
};

declare module 'fastify' {
  interface FastifyInstance {
    site: Site;
  }
}

/** Tells every page of `app`, error pages among them, which site it belongs to. */
export function nameSite(app: FastifyInstance, config: ConnectedConfig, assets: Assets): void {
  const base = config.basePath;
  app.decorate('site', {
    base,
    url: config.PUBLIC_URL.replace(/\/+$/, ''),
    name: config.SERVICE_NAME,
    notice: config.NOTICE,
    asset: (name) => `${base}${assets.path(name)}`,
    routes: [],
  });
}
