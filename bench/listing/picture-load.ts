/**
 * Requests previews and banners and uploads banners, spread evenly over some seconds. It is a process of its own, so
 * that it does not slow down the measurement of the votes. It gets a `PictureLoad` and returns the number of answers by
 * kind.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { bannerForm, ownOrigin } from './owner.ts';

export type PictureLoad = {
  url: string;
  publicUrl: string;
  seconds: number;
  /** Paths of previews and of banners. */
  previews: string[];
  banners: string[];
  uploads: { path: string; cookie: string }[];
  /** The picture that is uploaded, as base64. */
  png: string;
};

process.on('message', async (load: PictureLoad) => {
  const answers = new Map<string, number>();
  const note = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1);
  /** Each request comes from another network, because a network may cause only 60 drawings a minute. */
  const from = (n: number) => ({ 'x-forwarded-for': `10.${n >> 8}.${n & 255}.7` });
  const form = bannerForm(Buffer.from(load.png, 'base64'));
  const body = new Uint8Array(form.body);

  async function spread<T>(things: T[], act: (thing: T, n: number) => Promise<void>): Promise<void> {
    const began = performance.now();
    const sent: Promise<void>[] = [];
    for (const [n, thing] of things.entries()) {
      const waitMs = began + (n * load.seconds * 1_000) / things.length - performance.now();
      if (waitMs > 0) await pause(waitMs);
      sent.push(act(thing, n).catch((error: unknown) => void note(`failed: ${String(error)}`)));
    }
    await Promise.all(sent);
  }

  async function get(path: string, n: number): Promise<void> {
    const answer = await fetch(`${load.url}${path}`, { headers: from(n) });
    await answer.arrayBuffer();
    note(`${path.replace(/^.*\//, '')} ${answer.status}`);
  }

  async function upload({ path, cookie }: PictureLoad['uploads'][number], n: number): Promise<void> {
    const headers = { ...form.headers, ...ownOrigin(load.publicUrl), ...from(n), cookie };
    const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
    const answer = await fetch(`${load.url}${path}`, request);
    await answer.arrayBuffer();
    note(`upload ${answer.status}`);
  }

  await Promise.all([spread(load.previews, get), spread(load.banners, get), spread(load.uploads, upload)]);
  process.send?.([...answers]);
});
process.on('disconnect', () => process.exit());
