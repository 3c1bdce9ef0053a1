import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { type BannerSize, bannerSizeSchema, USUAL_BANNER } from '../../platform/pictures/banner-sizes.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { BANNERS, bannerId, readDrawing } from '../../servers/drawn-pictures.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { keepUpToDate } from './drawn-images.ts';

const placeholder = (size: BannerSize) =>
  readFileSync(new URL(`./banner-placeholder-${size}.png`, import.meta.url));

/** Sent until a worker has drawn the server's banner. */
const PLACEHOLDERS: Record<BannerSize, Buffer> = {
  '468x60': placeholder('468x60'),
  '728x90': placeholder('728x90'),
};

/** Of the design of banners. */
const KEY = '1';

/** @throws {PageError} 400 for a size that banners do not have */
export function bannerSizeOf({ query }: FastifyRequest): BannerSize {
  const { size = USUAL_BANNER } = query as { size?: unknown };
  const known = bannerSizeSchema.safeParse(size);
  if (known.success) return known.data;
  throw new PageError(
    400,
    t('A banner has one of these sizes: {sizes}.', { sizes: bannerSizeSchema.options.join(', ') }),
  );
}

/** A drawing is new at most every five minutes; the placeholder is replaced within seconds. */
const OF_DRAWING = 'public, max-age=60, stale-while-revalidate=240';
const OF_PLACEHOLDER = 'public, max-age=5';

/** The newest drawing as PNG, or a placeholder that caches store for a shorter time. */
export async function bannerImage(
  deps: AppDeps,
  request: FastifyRequest,
  server: WithId<Server>,
  banner: BannerSize,
): Promise<{ body: Buffer; cacheControl: string }> {
  const id = bannerId(server._id, banner);
  const state = await readDrawing(deps, BANNERS, id);
  await keepUpToDate(deps, request, { kind: BANNERS, server, id, key: KEY, state, banner });
  return state?.png
    ? { body: state.png, cacheControl: OF_DRAWING }
    : { body: PLACEHOLDERS[banner], cacheControl: OF_PLACEHOLDER };
}
