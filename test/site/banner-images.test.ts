import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { BannerSize } from '../../src/platform/pictures/banner-sizes.ts';
import { BANNERS, bannerId, drawPicture, dueDrawings } from '../../src/servers/drawn-pictures.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let serverId: ObjectId;
let path: string;
let number = 0;

/** How far the clock of the page cache has been moved forward. */
let ahead = 0;

beforeAll(async () => {
  web = await openWebApp();
});
beforeEach(async () => {
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ahead);
  await web.deps.bannerPictures.deleteMany({});
  await web.deps.rateLimits.deleteMany({});
  number += 1;
  serverId = await addOwnedServer(web.deps, (await signIn(web)).userId, { name: `Banner ${number}` });
  path = `/servers/banner-${number}/banner.png`;
});

/** Moves the clock of the cache of three seconds, and waits until the banner is marked if it became due. */
async function get(query = '', headers: Record<string, string> = {}) {
  ahead += 4 * SECOND;
  const answer = await getPage(web, `${path}${query}`, headers);
  await web.deps.batcher.settle(10 * SECOND);
  return answer;
}
const sizeOf = (png: Buffer) => `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
const draw = (png = 'drawn', size: BannerSize = '468x60') =>
  drawPicture(web.deps, BANNERS, { serverId, id: bannerId(serverId, size) }, async () => Buffer.from(png));
const due = () => dueDrawings(web.deps, BANNERS);
const set = (fields: object, size: BannerSize = '468x60') =>
  web.deps.bannerPictures.updateOne({ _id: bannerId(serverId, size) }, { $set: fields });
const stored = () => web.deps.bannerPictures.findOne({ _id: bannerId(serverId, '468x60') });

test('is a neutral picture for a short time, then the drawing; each size is drawn only when it is asked for', async () => {
  const first = await get();
  expect([first.statusCode, first.headers['content-type']]).toEqual([200, 'image/png']);
  expect(sizeOf(first.rawPayload)).toBe('468x60');
  expect(first.headers['cache-control']).toBe('public, max-age=5');
  expect(await due()).toEqual([bannerId(serverId, '468x60')]);
  expect(sizeOf((await get('?size=728x90')).rawPayload)).toBe('728x90');
  expect(await due()).toHaveLength(2);

  await draw('small');
  await draw('large', '728x90');
  expect(await due()).toEqual([]);
  const small = await get('?size=468x60');
  expect(small.body).toBe('small');
  expect(small.headers).toMatchObject({
    'cache-control': 'public, max-age=60, stale-while-revalidate=240',
    'content-security-policy': expect.stringContaining('sandbox'),
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  expect((await get('?size=728x90')).body).toBe('large');
  const again = await get('', { 'if-none-match': String(small.headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('has two sizes; another one is 400 and costs no read', async () => {
  const reads = vi.spyOn(web.deps.servers, 'findOne');
  for (const query of [
    '?size=',
    '?size=1x1',
    '?size=468X60',
    '?size=468x60&size=468x60',
    '?size=__proto__',
  ]) {
    const { statusCode, body } = await get(query);
    expect([query, statusCode]).toEqual([query, 400]);
    expect(body).toContain('468x60, 728x90');
  }
  expect(reads).not.toHaveBeenCalled();
  expect(await due()).toEqual([]);
});

test('is drawn again five minutes after its drawing at the earliest, however it changed', async () => {
  await get();
  await draw('old');
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { name: 'Another', rankPosition: 9 } });
  const now = web.deps.clock.now();
  await set({ drawnAt: after(now, -5 * MINUTE + 10 * SECOND) });
  expect((await get()).body).toBe('old');
  expect(await due()).toEqual([]);
  await set({ drawnAt: after(now, -5 * MINUTE) });
  expect((await get()).body).toBe('old');
  expect(await due()).toEqual([bannerId(serverId, '468x60')]);
});

test('the first drawing of one server comes before a new drawing of another', async () => {
  const jobs = async () => web.deps.queues['draw-cards'].getJobs(['waiting', 'prioritized']);
  await vi.waitUntil(async () => (await get()) && (await jobs()).length > 0);
  await draw();
  await web.deps.queues['draw-cards'].obliterate();
  await set({ drawnAt: after(web.deps.clock.now(), -HOUR) });
  await get();
  await vi.waitUntil(async () => (await jobs()).length === 1);
  await get('?size=728x90');
  await vi.waitUntil(async () => (await jobs()).length === 2);
  expect((await jobs()).map(({ data, opts }) => [data.banner, opts.priority ?? 0])).toEqual([
    ['728x90', 0],
    ['468x60', 1],
  ]);
});

test('however many ask, a request is written once in five minutes, and noted once an hour', async () => {
  const batches = vi.spyOn(web.deps.bannerPictures.db, 'command');
  const updates = vi.spyOn(web.deps.bannerPictures, 'updateOne');
  const isOfBanners = ([command]: unknown[]) => (command as { update?: string }).update === 'banner_pictures';
  const writes = () => batches.mock.calls.filter(isOfBanners).length + updates.mock.calls.length;
  for (let n = 0; n < 5; n += 1) await Promise.all(Array.from({ length: 20 }, () => get()));
  expect(writes()).toBe(1);
  await draw();
  const before = writes();
  for (let n = 0; n < 5; n += 1) await get();
  expect(writes()).toBe(before);

  // A worker failed three times: the banner is not drawn for an hour, but somebody asks for it.
  const failedUntil = after(web.deps.clock.now(), HOUR);
  const askedAt = after(web.deps.clock.now(), -HOUR);
  await set({ askedAt, drawnAt: after(askedAt, -DAY), failedUntil });
  const failed = writes();
  for (let n = 0; n < 5; n += 1) await get();
  expect(writes()).toBe(failed + 1);
  expect((await stored())?.askedAt.getTime()).toBeGreaterThan(askedAt.getTime());
});

test('MongoDB deletes one that nobody asked for in seven days', async () => {
  const indexes = await web.deps.bannerPictures.indexes();
  expect(indexes.find(({ key }) => 'askedAt' in key)).toMatchObject({ expireAfterSeconds: 7 * 86_400 });
});

test('a hidden, removed or unknown server has none; it goes with its server', async () => {
  for (const size of ['468x60', '728x90'] as const) {
    await get(`?size=${size}`);
    await draw(size, size);
  }
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { hiddenAt: new Date() } });
  expect((await get()).statusCode).toBe(404);
  await removeServer(web.deps, serverId, 'test');
  expect(await web.deps.bannerPictures.countDocuments()).toBe(0);
  expect((await get()).statusCode).toBe(404);
  expect((await getPage(web, '/servers/nobody/banner.png?size=728x90')).statusCode).toBe(404);
  expect(await due()).toEqual([]);
});

test('a former slug leads to the new one, with the size', async () => {
  await web.deps.servers.updateOne(
    { _id: serverId },
    { $set: { slug: `renamed-${number}` }, $push: { slugs: `renamed-${number}` } },
  );
  const { statusCode, headers } = await get('?size=728x90');
  expect([statusCode, headers.location]).toEqual([301, `/servers/renamed-${number}/banner.png?size=728x90`]);
});

test('a network causes sixty drawings a minute, those of previews included', async () => {
  const resetAt = after(web.deps.clock.now(), MINUTE);
  await web.deps.rateLimits.insertOne({ _id: 'cards:address:127.0.0.1', count: 60, resetAt });
  expect((await get()).statusCode).toBe(200);
  expect(await due()).toEqual([]);
});

test('the server’s page and the owner’s have its codes to copy', async () => {
  const { body } = await getPage(web, `/servers/banner-${number}`);
  const address = `http://localhost:3000${path}?size=468x60`;
  expect(body).toContain(`[img]${address}[/img]`);
  expect(body).toContain(`](${address})](`);
  expect(body).toContain(`&lt;img src=&quot;${address}&quot; width=&quot;468&quot; height=&quot;60&quot;`);
});
