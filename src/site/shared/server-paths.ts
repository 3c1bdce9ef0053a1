import type { Server } from '../../servers/server.ts';

/** The size of `banner.svg`, which other sites embed, in CSS pixels. */
export const BANNER = { width: 560, height: 96 } as const;
/** The height of `badge.svg` in CSS pixels; its width depends on the text. */
export const BADGE = { height: 20 } as const;

/** The size in pixels of the image that chats and social networks show for a link. */
export const SHARE_IMAGE = { width: 1_200, height: 630 } as const;
/** The size of the widget in CSS pixels. */
export const WIDGET = { width: 320, height: 150 } as const;

/** The path of a server's public page, or of a resource below it, under the site's base. */
export function publicPath({ slug }: Pick<Server, 'slug'>, rest = ''): string {
  return `/servers/${slug}${rest}`;
}
