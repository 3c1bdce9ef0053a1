import { ObjectId, type WithId } from 'mongodb';
import { goalOf } from '../src/goals/goal-progress.ts';
import { serverInfo } from '../src/history/server-info.ts';
import { defaultLanguage, inLanguage } from '../src/language/language.ts';
import { SECOND } from '../src/platform/clock.ts';
import { onceForKey } from '../src/platform/once.ts';
import type { BannerSize } from '../src/platform/pictures/banner-sizes.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { DrawnPictures, PictureTasks } from '../src/platform/pictures/picture-tasks.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import {
  BANNERS,
  bannerId,
  bannerOfId,
  drawPicture,
  dueDrawings,
  PREVIEWS,
  trimDrawings,
} from '../src/servers/drawn-pictures.ts';
import { readPicture } from '../src/servers/pictures.ts';
import type { Server } from '../src/servers/server.ts';
import { type Logo, readLogo } from '../src/site/look/logo.ts';
import { bannerDrawing } from '../src/site/public/banner-drawing.ts';
import { CARD_BANNER, CARD_ICON, shareDrawing } from '../src/site/public/share-image.ts';
import type { QueueWork } from './queue-work.ts';

type DrawnLogo = PictureTasks['logo']['result'];

export const drawCardsWork: QueueWork<'draw-cards'> = {
  // Ten pictures a second use 10 % to 33 % of a processor. Anybody can cause them, so their number is limited.
  limiter: { most: 10, inMs: SECOND },
  period: {
    every: 'minute',
    /** Deletes surplus pictures, and finds those whose job was lost or whose next attempt is due. */
    async due(deps) {
      for (const kind of [PREVIEWS, BANNERS]) await trimDrawings(deps, kind);
      const previews = await dueDrawings(deps, PREVIEWS);
      const banners = await dueDrawings(deps, BANNERS);
      return [...previews.map((id) => ({ serverId: String(id) })), ...banners.map(bannerOfId)];
    },
  },
  processor({ deps, pictureProcess }) {
    const logo = logoOf(deps, pictureProcess);
    const previewOf = async (server: WithId<Server>) => {
      const info = await serverInfo(deps, server);
      const drawnLogo = await logo();
      const pictures = await picturesOf(deps, server);
      const card = { info, game: server.game, site: deps.config.SERVICE_NAME, logo: drawnLogo, pictures };
      // Whoever posts the link and whoever reads it may have different languages.
      const svg = await inLanguage(defaultLanguage(deps.config), async () => shareDrawing(card));
      return pictureProcess.run('drawing', { svg, pictures });
    };
    const bannerOf = async (server: WithId<Server>, size: BannerSize) => {
      const [info, goal] = await Promise.all([serverInfo(deps, server), goalOf(deps, server)]);
      const shown = { info, site: deps.config.SERVICE_NAME, goal };
      const svg = await inLanguage('en', async () => bannerDrawing(size, shown));
      return pictureProcess.run('drawing', { svg });
    };
    return async ({ serverId: id, banner }) => {
      const serverId = new ObjectId(id);
      const end = banner
        ? await drawPicture(deps, BANNERS, { serverId, id: bannerId(serverId, banner) }, (server) =>
            bannerOf(server, banner),
          )
        : await drawPicture(deps, PREVIEWS, { serverId, id: serverId }, previewOf);
      return { end };
    };
  },
};

/** A picture that was deleted in the meantime is left out. */
async function picturesOf(deps: AppDeps, { profile }: Server): Promise<DrawnPictures> {
  const { banner, icon } = profile ?? {};
  const read = (id: string | null | undefined) => (id ? readPicture(deps, id) : null);
  const [wide, own] = await Promise.all([read(banner?.wide), read(icon?.picture)]);
  return {
    ...(wide ? { banner: { bytes: wide, ...CARD_BANNER } } : {}),
    ...(own ? { icon: { bytes: own, ...CARD_ICON } } : {}),
  };
}

/** Draws each logo once. Undefined if there is none, or if this process cannot read or draw it. */
function logoOf(deps: AppDeps, pictureProcess: PictureProcess): () => Promise<DrawnLogo | undefined> {
  const { config, log } = deps;
  const read = async (): Promise<Pick<Logo, 'bytes' | 'extension'> | null> => {
    const { LOGO: file, LOGO_PICTURE: uploaded } = config;
    if (file !== undefined) return readLogo(file);
    const bytes = uploaded ? await readPicture(deps, uploaded.id) : null;
    return bytes && { bytes, extension: 'webp' };
  };
  const drawnFor = onceForKey(async (_logo) => {
    try {
      const logo = await read();
      return logo
        ? await pictureProcess.run('logo', { bytes: logo.bytes, format: logo.extension })
        : undefined;
    } catch (error) {
      log.warn({ event: 'card.without_logo', reason: String(error) });
      return undefined;
    }
  });
  return () => drawnFor(config.LOGO ?? config.LOGO_PICTURE?.id ?? '');
}
