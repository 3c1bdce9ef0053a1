import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import sharp from 'sharp';
import { describe, expect, it, vi } from 'vitest';
import { createPictureProcess } from '../../../src/platform/pictures/picture-process.ts';
import { atTheEnd } from '../../support/at-the-end.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { picture, pngOfSize } from '../../support/pictures.ts';

const SVG = (width = 40) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20"><text y="15">Hi</text></svg>`;

/** A picture process, and the ids of the children that it has started. It is closed when the file ends. */
function open(options: { deadlineMs?: number; mostMemory?: number } = {}) {
  const pids: number[] = [];
  const log = pino(
    { level: 'debug' },
    {
      write(line: string) {
        const { event, childPid } = JSON.parse(line);
        if (event === 'picture_process.started') pids.push(childPid);
      },
    },
  );
  const pictures = createPictureProcess(log, options);
  atTheEnd(() => pictures.close());
  return { pictures, pids };
}

/** Whether a process runs; a dead child that its parent has not noticed yet counts as ended. */
async function isRunning(pid: number | undefined): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}

describe('the picture process', () => {
  const { pictures, pids } = open();

  it('draws, encodes and refuses pictures in a child process, which has no secrets and yields to others', async () => {
    const drawn = await pictures.run('drawing', { svg: SVG() });
    expect([drawn.readUInt32BE(16), drawn.readUInt32BE(20)]).toEqual([40, 20]);
    const bytes = await picture(600, 150).png().toBuffer();
    const { wide } = await pictures.run('banner', { bytes });
    expect(wide).toMatchObject({ width: 600, height: 150 });
    expect(wide.bytes.toString('latin1', 8, 12)).toBe('WEBP');
    await expect(
      pictures.run('banner', { bytes: pngOfSize(600, 150, Buffer.alloc(0)) }),
    ).rejects.toMatchObject({
      name: 'PictureError',
      code: 'broken',
    });
    const logo = Buffer.from(SVG());
    expect(await pictures.run('logo', { bytes: logo, format: 'svg' })).toMatchObject({
      width: 192,
      height: 96,
    });
    const webp = await picture(300, 100).webp().toBuffer();
    expect(await pictures.run('logo', { bytes: webp, format: 'webp' })).toMatchObject({
      width: 288,
      height: 96,
    });

    expect(pids).toHaveLength(1);
    const variables = await readFile(`/proc/${pids[0]}/environ`, 'utf8');
    const names = variables.split('\0').flatMap((line) => (line ? [line.split('=')[0] ?? ''] : []));
    expect(names.filter((name) => !/^(PATH|NODE_COMPILE_CACHE|NODE_CHANNEL_.*)$/.test(name))).toEqual([]);
    const [, nice] = /\) \S+(?: \S+){15} (\S+)/.exec(await readFile(`/proc/${pids[0]}/stat`, 'utf8')) ?? [];
    expect(Number(nice)).toBe(10);
    expect((await readFile(`/proc/${pids[0]}/oom_score_adj`, 'utf8')).trim()).toBe('800');
  });

  it('inserts stored pictures into a drawing, cut to the size at which it shows them', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><text>picture:banner</text>
      <image width="40" height="20" href="picture:banner"/><image x="40" width="40" height="20" href="picture:icon"/></svg>`;
    const solid = (width: number, height: number, background: string) =>
      sharp({ create: { width, height, channels: 3, background } })
        .webp({ lossless: true })
        .toBuffer();
    const drawn = await pictures.run('drawing', {
      svg,
      pictures: {
        banner: { bytes: await solid(30, 90, '#ff0000'), width: 40, height: 20 },
        icon: { bytes: await solid(64, 64, '#0000ff'), width: 40, height: 20 },
      },
    });
    const { data, info } = await sharp(drawn).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const pixel = (x: number) => [...data.subarray((10 * info.width + x) * 3, (10 * info.width + x) * 3 + 3)];
    expect([info.width, info.height]).toEqual([80, 20]);
    expect([pixel(5), pixel(75)]).toEqual([
      [255, 0, 0],
      [0, 0, 255],
    ]);
  });
});

it('the child is replaced after 50 pictures', async () => {
  const { pictures, pids } = open();
  for (let n = 1; n <= 50; n += 1) await pictures.run('drawing', { svg: SVG(n) });
  expect(pids).toHaveLength(1);
  await pictures.run('drawing', { svg: SVG() });
  expect(new Set(pids).size).toBe(2);
  await vi.waitFor(async () => expect(await isRunning(pids[0])).toBe(false), EVENTUALLY);
});

it('the child is replaced when it has too much memory', async () => {
  const { pictures, pids } = open({ mostMemory: 1 });
  for (let n = 1; n <= 2; n += 1) await pictures.run('drawing', { svg: SVG() });
  expect(new Set(pids).size).toBe(2);
  await vi.waitFor(async () => expect(await isRunning(pids[0])).toBe(false), EVENTUALLY);
});

describe('a child that fails', () => {
  const { pictures, pids } = open({ deadlineMs: 5_000 });

  it('if the child is killed, its picture fails and the next one gets a new child', async () => {
    await pictures.run('drawing', { svg: SVG() });
    const pid = pids.at(-1) ?? 0;
    process.kill(pid, 'SIGSTOP');
    const failing = pictures.run('drawing', { svg: SVG() });
    process.kill(pid, 'SIGKILL');
    await expect(failing).rejects.toMatchObject({ name: 'PictureProcessError', code: 'ended' });
    await expect(pictures.run('drawing', { svg: SVG() })).resolves.toBeInstanceOf(Buffer);
    expect(pids.at(-1)).not.toBe(pid);
  });

  it('a child that does not answer in time is killed and replaced', async () => {
    await pictures.run('drawing', { svg: SVG() });
    const pid = pids.at(-1) ?? 0;
    process.kill(pid, 'SIGSTOP');
    await expect(pictures.run('drawing', { svg: SVG() })).rejects.toMatchObject({ code: 'timeout' });
    await vi.waitFor(async () => expect(await isRunning(pid)).toBe(false), EVENTUALLY);
    await expect(pictures.run('drawing', { svg: SVG() })).resolves.toBeInstanceOf(Buffer);
  }, 60_000);

  it('a close ends the child; work under way and later work fails as stopped', async () => {
    await pictures.run('drawing', { svg: SVG() });
    const pid = pids.at(-1) ?? 0;
    process.kill(pid, 'SIGSTOP');
    const failing = pictures.run('drawing', { svg: SVG() });
    const stopped = expect(failing).rejects.toMatchObject({ code: 'stopped' });
    pictures.close();
    await stopped;
    await expect(pictures.run('drawing', { svg: SVG() })).rejects.toMatchObject({ code: 'stopped' });
    await vi.waitFor(async () => expect(await isRunning(pid)).toBe(false), EVENTUALLY);
  });
});
