/**
 * The picture process: a child of a worker that decodes, encodes and draws one picture at a time. Its libraries are
 * native code that reads strangers' files and leaks memory, so the worker replaces it regularly (picture-process.ts).
 */
import { writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { endWithParent } from '../end-with-parent.ts';
import { drawLogo, drawSvg, encodeLogo } from './draw-svg.ts';
import { encodeBanner, encodeIcon } from './encode-picture.ts';
import { PictureError, type PictureFailure } from './picture-error.ts';
import type { PictureAnswer, PictureRequest, PictureTask, PictureTasks } from './picture-tasks.ts';

const TASKS: { [K in PictureTask]: (input: PictureTasks[K]['input']) => Promise<PictureTasks[K]['result']> } =
  {
    banner: ({ bytes }) => encodeBanner(bytes),
    icon: ({ bytes }) => encodeIcon(bytes),
    drawing: ({ svg, pictures }) => drawSvg(svg, pictures),
    'site-logo': encodeLogo,
    logo: drawLogo,
  };

endWithParent(() => process.exit());
// `endWithParent` unrefs the IPC channel, but nothing else keeps this process alive.
process.channel?.ref();
// Lower than the workers' own priority, so that votes are not delayed.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// If the machine runs out of memory, the kernel ends this process before the worker. `/proc` exists on Linux only.
await writeFile('/proc/self/oom_score_adj', '800').catch(() => undefined);

process.on('message', async (request: PictureRequest) => {
  const answer = await answerTo(request);
  process.send?.({ rss: process.memoryUsage.rss(), ...answer } satisfies PictureAnswer);
});

async function answerTo({ task, input }: PictureRequest) {
  try {
    return { result: await TASKS[task](input as never) };
  } catch (error) {
    const refused: PictureFailure = error instanceof PictureError ? error.code : 'broken';
    return { refused };
  }
}
