import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { fileForm, picture } from '../support/pictures.ts';
import { environmentOf } from '../support/process-environment.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { CHEAP_PASSWORDS, OWN_ORIGIN, openWebAppOn } from '../support/web-app.ts';
import { startWeb } from '../support/web-process.ts';
import { startWorker } from '../support/workers.ts';

/** The native image libraries that a process has loaded. */
async function imageLibraries(pid: number | undefined): Promise<string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  return maps.split('\n').filter((line) => /sharp|libvips|resvg/i.test(line));
}

test('a web process takes a banner and sends cards and a logo without an image library; a worker makes them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'logo-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const LOGO = join(folder, 'logo.webp');
  await writeFile(LOGO, await picture(300, 100).webp().toBuffer());
  const deps = { ...(await testDeps({ LOGO })), passwords: CHEAP_PASSWORDS };
  const owner = await signIn(await openWebAppOn(deps));
  const serverId = await addOwnedServer(deps, owner.userId, { name: 'Alpha' });
  const web = await startWeb({ ...environmentOf(deps.config), PORT: '0', METRICS_PORT: '0' });
  const worker = await startWorker(deps.config, { args: ['encode-pictures', 'draw-cards'] });

  const form = fileForm({ bytes: await picture(1_300, 325).png().toBuffer() });
  const banner = `${web.url}/dashboard/servers/${serverId.toHexString()}/profile/banner`;
  const headers = { ...form.headers, ...OWN_ORIGIN, ...owner.headers, accept: 'text/html' };
  const sent = await fetch(banner, {
    method: 'POST',
    headers,
    body: new Uint8Array(form.payload),
    redirect: 'manual',
  });
  expect(sent.status).toBe(303);
  const page = await (await fetch(`${web.url}/servers/alpha`)).text();
  expect(page).toContain('<link rel="icon" type="image/webp"');
  const placeholder = Buffer.from(await (await fetch(`${web.url}/servers/alpha/card.png`)).arrayBuffer());

  await vi.waitFor(async () => {
    const server = await deps.servers.findOne({ _id: serverId });
    expect(server?.profile?.banner).toMatchObject({ width: 1_200, height: 300 });
    expect(server?.profile).not.toHaveProperty('bannerUpload');
    const card = await fetch(`${web.url}/servers/alpha/card.png`);
    const png = Buffer.from(await card.arrayBuffer());
    expect(png.equals(placeholder)).toBe(false);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1_200, 630]);
  }, EVENTUALLY);
  expect(await deps.pictureUploads.countDocuments()).toBe(0);
  const { banner: shown } = (await deps.servers.findOne({ _id: serverId }))?.profile ?? {};
  expect((await fetch(`${web.url}/pictures/${shown?.wide}.webp`)).status).toBe(200);
  expect(await imageLibraries(web.child.pid)).toEqual([]);
  // The worker's drawing contains the logo.
  expect(worker.lines.some((line) => line.event === 'card.without_logo')).toBe(false);
}, 60_000);
