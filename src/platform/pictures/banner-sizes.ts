import { z } from 'zod';

/** Of banners as PNG, in pixels. Old forums take these two sizes. */
export const BANNER_SIZES = {
  '468x60': { width: 468, height: 60 },
  '728x90': { width: 728, height: 90 },
} as const;

export type BannerSize = keyof typeof BANNER_SIZES;
export const bannerSizeSchema = z.enum(Object.keys(BANNER_SIZES) as [BannerSize, ...BannerSize[]]);
export const USUAL_BANNER: BannerSize = '468x60';
