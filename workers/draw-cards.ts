import type { Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { serverInfo } from '../src/history/server-info.ts';
import { inLanguage } from '../src/language/language.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { PictureTasks } from '../src/platform/pictures/picture-tasks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { drawCard } from '../src/servers/draw-card.ts';
import { readLogo } from '../src/site/look/logo.ts';
import { shareDrawing } from '../src/site/public/share-image.ts';

type DrawnLogo = PictureTasks['logo']['result'];

/**
 * Draws the preview for links to a job's server. After a failure the scheduler adds the job again when the next attempt
 * is due.
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
      const svg = await inLanguage('en', async () => shareDrawing(info, deps.config.SERVICE_NAME, drawnLogo));
      return pictureProcess.run('drawing', { svg });
    });
    return { end };
  };
}

/** The operator's logo as PNG, drawn once. undefined if there is no logo, or if this process cannot read or draw it. */
function logoOf(
  { config: { LOGO: file }, log }: AppDeps,
  pictureProcess: PictureProcess,
): () => Promise<DrawnLogo | undefined> {
  let drawn: Promise<DrawnLogo | undefined> | undefined;
  const draw = async (path: string) => {
    const { bytes, extension: format } = await readLogo(path);
    return pictureProcess.run('logo', { bytes, format });
  };
  return () => {
    if (file === undefined) return Promise.resolve(undefined);
    drawn ??= draw(file).catch((error: unknown) => {
      log.warn({ event: 'card.without_logo', reason: String(error) });
      return undefined;
    });
    return drawn;
  };
}
