import { ObjectId } from 'mongodb';
import { serverInfo } from '../src/history/server-info.ts';
import { inLanguage } from '../src/language/language.ts';
import { SECOND } from '../src/platform/clock.ts';
import { onceForKey } from '../src/platform/once.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { DrawnPictures, PictureTasks } from '../src/platform/pictures/picture-tasks.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { readPicture } from '../src/servers/pictures.ts';
import { drawCard, dueCards, trimCards } from '../src/servers/preview-cards.ts';
import type { Server } from '../src/servers/server.ts';
import { type Logo, readLogo } from '../src/site/look/logo.ts';
import { CARD_BANNER, CARD_ICON, shareDrawing } from '../src/site/public/share-image.ts';
import type { QueueWork } from './queue-work.ts';

type DrawnLogo = PictureTasks['logo']['result'];

export const drawCardsWork: QueueWork<'draw-cards'> = {
  // Ten previews a second use 10 % to 33 % of a processor. Anybody can cause previews, so their number is limited.
  limiter: { most: 10, inMs: SECOND },
  period: {
    every: 'minute',
    /** Deletes surplus previews, and finds those whose job was lost or whose next attempt is due. */
    async due(deps) {
      await trimCards(deps);
      return (await dueCards(deps)).map((serverId) => ({ serverId: serverId.toHexString() }));
    },
  },
  processor({ deps, pictureProcess }) {
    const logo = logoOf(deps, pictureProcess);
    return async ({ serverId }) => {
      const end = await drawCard(deps, new ObjectId(serverId), async (server) => {
        const info = await serverInfo(deps, server);
        const drawnLogo = await logo();
        const pictures = await picturesOf(deps, server);
        const card = { info, game: server.game, site: deps.config.SERVICE_NAME, logo: drawnLogo, pictures };
        const svg = await inLanguage('en', async () => shareDrawing(card));
        return pictureProcess.run('drawing', { svg, pictures });
      });
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
