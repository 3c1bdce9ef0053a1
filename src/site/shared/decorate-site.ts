import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../accounts/sessions.ts';
import { type Language, offeredLanguages } from '../../language/language.ts';
import type { StoredLogo } from '../../platform/stored-values.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type AssetName, type Assets, accentLogoPath, accentPath } from '../assets.ts';
import { logoSize } from '../look/logo.ts';
import type { Access } from '../route-access.ts';
import { livePages, type SitePages } from '../site-pages.ts';
import { type AnnouncementCache, createAnnouncementCache } from './announcement-cache.ts';
import { pictureAddress } from './server-pictures.ts';

export type ShownLogo = Pick<Assets['logo'], 'type' | 'width' | 'height' | 'path' | 'isOwn'> & {
  href: string;
};

/** Operators can change the settings with `readonly` at any time: read them for each page. */
export type Site = {
  /** `''` or `/listing` */
  base: string;
  url: string;
  readonly name: string;
  readonly notice: string;
  announcement: AnnouncementCache;
  /** An e-mail address, or the URL of a contact page. */
  readonly contact: string | undefined;
  readonly pages: SitePages;
  /** Those that the operator has not switched off. */
  readonly languages: Language[];
  readonly footerLinks: { text: string; href: string }[];
  readonly logo: ShownLogo;
  readonly accentStyle: string | null;
  asset(name: AssetName): string;
  routes: { method: string; url: string; access: Access }[];
  /** For the error page of a request that matches no route. Set when the pages are registered. */
  whoIs?: (request: FastifyRequest) => Promise<SignedIn | null>;
};

declare module 'fastify' {
  interface FastifyInstance {
    site: Site;
  }
}

/** @throws {ConfigError} when the operator's pages cannot be read */
export function decorateSite(app: FastifyInstance, deps: AppDeps, assets: Assets): void {
  const { config } = deps;
  const base = config.basePath;
  const pages = livePages(config);
  const ours: ShownLogo = { ...assets.logo, href: `${base}${assets.logo.path}` };
  app.decorate('site', {
    base,
    url: config.PUBLIC_URL.replace(/\/+$/, ''),
    get name() {
      return config.SERVICE_NAME;
    },
    get notice() {
      return config.NOTICE;
    },
    announcement: createAnnouncementCache(deps),
    get contact() {
      return config.CONTACT;
    },
    get pages() {
      return pages();
    },
    get languages() {
      return offeredLanguages(config);
    },
    get footerLinks() {
      return config.FOOTER_LINKS;
    },
    get logo() {
      if (config.LOGO_PICTURE) return uploadedLogo(base, config.LOGO_PICTURE);
      if (ours.isOwn || config.ACCENT_COLOUR === undefined) return ours;
      const path = accentLogoPath(config.ACCENT_COLOUR);
      return { ...ours, path, href: `${base}${path}` };
    },
    get accentStyle() {
      return config.ACCENT_COLOUR === undefined ? null : `${base}${accentPath(config.ACCENT_COLOUR)}`;
    },
    asset: (name) => `${base}${assets.path(name)}`,
    routes: [],
  });
}

function uploadedLogo(base: string, { id, width, height }: StoredLogo): ShownLogo {
  const href = pictureAddress(base, id);
  return { ...logoSize({ width, height }), href, path: href, type: 'image/webp', isOwn: true };
}
