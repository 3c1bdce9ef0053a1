import type { Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { serverInfo } from '../src/history/server-info.ts';
import { inLanguage } from '../src/language/language.ts';
import { onceForKey } from '../src/platform/once.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { DrawnPictures, PictureTasks } from '../src/platform/pictures/picture-tasks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { drawCard } from '../src/servers/draw-card.ts';
import { readPicture } from '../src/servers/pictures.ts';
import type { Server } from '../src/servers/server.ts';
import { type Logo, readLogo } from '../src/site/look/logo.ts';
import { CARD_BANNER, CARD_ICON, shareDrawing } from '../src/site/public/share-image.ts';

type DrawnLogo = PictureTasks['logo']['result'];

/**
 * Returns the processor of `draw-cards`. It draws the preview of links to the job's server. After a failure the
 * scheduler adds the job again when the next attempt is due.
 */
export function drawCardsWorker(
  deps: AppDeps,
  pictureProcess: PictureProcess,
): Processor<Payload<'draw-cards'>> {
  const logo = logoOf(deps, pictureProcess);
  return async (job) => {
    const { serverId } = QUEUES['draw-cards'].payload.parse(job.data);
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
}

/** The server's banner and icon. A picture that was deleted in the meantime is left out. */
async function picturesOf(deps: AppDeps, { profile }: Server): Promise<DrawnPictures> {
  const { banner, icon } = profile ?? {};
  const read = (id: string | null | undefined) => (id ? readPicture(deps, id) : null);
  const [wide, own] = await Promise.all([read(banner?.wide), read(icon?.picture)]);
  return {
    ...(wide ? { banner: { bytes: wide, ...CARD_BANNER } } : {}),
    ...(own ? { icon: { bytes: own, ...CARD_ICON } } : {}),
  };
}

/**
 * Returns a function that returns the operator's logo as PNG and draws each logo once. The result is undefined if there
 * is no logo, or if this process cannot read or draw it.
 */
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
