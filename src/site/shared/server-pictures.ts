import type { Banner, Icon } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { colourClasses, generatedIcon, initials } from './generated-pictures.ts';
import { type Html, html } from './html.ts';

/** Banners wider than this many times their height are shown whole: cropping would cut off their text. */
const STRIP = 5.5;

export type Pictured = {
  name: string;
  game?: string | null | undefined;
  banner?: Banner | undefined;
  icon?: Icon | undefined;
};

export function picturedServer({ name, game, profile }: Pick<Server, 'name' | 'game' | 'profile'>): Pictured {
  return { name, game, banner: profile?.banner, icon: profile?.icon };
}

/**
 * Hidden from screen readers and the tab order, because the name beside it is the same link. A server without a banner
 * gets a pattern with its initials. `loading`: `lazy` below the first screen.
 */
export function bannerLink(
  base: string,
  server: Pictured & { slug: string },
  loading: 'eager' | 'lazy' = 'lazy',
): Html {
  const { banner } = server;
  const to = html`href="${base}/servers/${server.slug}" tabindex="-1" aria-hidden="true"`;
  if (!banner)
    return html`<a class="banner plain ${colourClasses(server)}" ${to}><span>${initials(server.name)}</span></a>`;
  return html`<a class="banner" ${to}>${bannerPicture(base, banner, loading, '(max-width: 42.5rem) 100vw, 25rem')}</a>`;
}

/** `banner`: a low strip on a card. */
export function cover(base: string, server: Pictured, kind: 'cover' | 'banner' = 'cover'): Html {
  const { banner } = server;
  return banner
    ? html`<div class="${kind}">${bannerPicture(base, banner, 'eager', '(max-width: 77rem) 100vw, 74rem')}</div>`
    : html`<div class="${kind} plain ${colourClasses(server)}" aria-hidden="true"><span>${initials(
        server.name,
      )}</span></div>`;
}

function bannerPicture(base: string, banner: Banner, loading: 'eager' | 'lazy', sizes: string): Html {
  const { narrow, width, height } = banner;
  const sources = html`src="${pictureAddress(base, narrow)}" srcset="${bannerSources(base, banner)}"`;
  const shape = width / height > STRIP ? html`class="strip"` : '';
  return html`<img ${shape} ${sources} sizes="${sizes}" alt="" width="${width}" height="${height}" loading="${loading}"
    decoding="async" />`;
}

/** The picture behind an address never changes, so browsers may cache it for a year. */
export function pictureAddress(base: string, id: string): string {
  return `${base}/pictures/${id}.webp`;
}

export function bannerSources(base: string, { wide, narrow, width }: Banner): string {
  return `${pictureAddress(base, narrow)} ${Math.min(600, width)}w, ${pictureAddress(base, wide)} ${width}w`;
}

export function serverIcon(base: string, { name, icon }: Pictured, pixels: number): Html {
  if (!icon?.picture) return generatedIcon(name, pixels);
  const size = html`width="${String(pixels)}" height="${String(pixels)}"`;
  return html`<img class="icon" src="${pictureAddress(base, icon.picture)}" ${size} alt="" decoding="async" />`;
}
