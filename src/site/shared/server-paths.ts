import type { Server } from '../../servers/server.ts';

/** In CSS pixels, as all sizes here. Other sites embed `banner.svg`, `badge.svg` and the widget. */
export const BANNER = { width: 560, height: 96 } as const;
export const BADGE = { height: 20 } as const;

/** Chats and social networks show this image for a link. */
export const SHARE_IMAGE = { width: 1_200, height: 630 } as const;
export const WIDGET = { width: 320, height: 150 } as const;

export function publicPath({ slug }: Pick<Server, 'slug'>, rest = ''): string {
  return `/servers/${slug}${rest}`;
}
