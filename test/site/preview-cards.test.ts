import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { PictureProcessError } from '../../src/platform/pictures/picture-error.ts';
import {
  drawPicture,
  dueDrawings,
  markDue,
  PREVIEWS,
  trimDrawings,
} from '../../src/servers/drawn-pictures.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let serverId: ObjectId;
let slug: string;
let number = 0;

/** How far the clock of the page cache has been moved forward. */
let ahead = 0;

beforeAll(async () => {
  web = await openWebApp();
});
beforeEach(async () => {
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ahead);
  await web.deps.previewCards.deleteMany({});
  await web.deps.rateLimits.deleteMany({});
  number += 1;
  serverId = await addOwnedServer(web.deps, (await signIn(web)).userId, { name: `Card ${number}` });
  slug = `card-${number}`;
});
/**
 * Requests a page or picture, and waits until the card is marked if it became due. The clock is moved first, because a
 * process caches answers for three seconds.
 */
async function getMarked(path: string, headers: Record<string, string> = {}) {
  ahead += 4 * SECOND;
  const answer = await getPage(web, path, headers);
  await web.deps.batcher.settle(10 * SECOND);
  return answer;
}
const getCard = (headers?: Record<string, string>) => getMarked(`/servers/${slug}/card.png`, headers);
const drawn = (draw: () => Promise<Buffer>) =>
  drawPicture(web.deps, PREVIEWS, { serverId, id: serverId }, draw);
const draw = (png = 'drawn') => drawn(async () => Buffer.from(png));
const card = () => web.deps.previewCards.findOne({ _id: serverId });
/** Makes the stored drawing older. */
const age = (ms: number) =>
  web.deps.previewCards.updateOne({ _id: serverId }, { $set: { drawnAt: after(web.deps.clock.now(), -ms) } });

test('is a placeholder until a worker has drawn it, then the bytes that are stored', async () => {
  const first = await getCard();
  expect([first.statusCode, first.headers['content-type']]).toEqual([200, 'image/png']);
  expect([first.rawPayload.readUInt32BE(16), first.rawPayload.readUInt32BE(20)]).toEqual([1_200, 630]);
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
  expect(await draw()).toBe('drawn');
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
  const answer = await getCard();
  expect(answer.body).toBe('drawn');
  expect(answer.headers).toMatchObject({
    'cache-control': expect.stringMatching(/^public, max-age=\d+, stale-while-revalidate=\d+$/),
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  const again = await getCard({ 'if-none-match': String(answer.headers.etag) });
  expect(again.statusCode).toBe(304);
  expect(await card()).not.toHaveProperty('dueAt');
});

test('the server’s page asks for it, and names it with the time of its drawing', async () => {
  const imageOf = async () => {
    const { body } = await getMarked(`/servers/${slug}`);
    return /property="og:image" content="([^"]+)"/.exec(body)?.[1];
  };
  expect(await imageOf()).toMatch(/\/card\.png$/);
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
  await draw();
  const image = (await imageOf()) ?? '';
  expect(image).toMatch(/\/card\.png\?drawn=\d+$/);
  expect((await getPage(web, new URL(image).pathname)).body).toBe('drawn');
});

test('is drawn again an hour later for its figures, or a minute later when it shows another name', async () => {
  await getCard();
  await draw('old');
  const { servers } = web.deps;
  await servers.updateOne({ _id: serverId }, { $set: { 'current.onlinePlayers': 7 } });
  await age(30 * MINUTE);
  await getCard();
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
  await age(HOUR);
  expect((await getCard()).body).toBe('old');
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
  await draw('figures');

  await servers.updateOne({ _id: serverId }, { $set: { name: 'Another name' } });
  await getCard();
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
  await age(MINUTE);
  expect((await getCard()).body).toBe('figures');
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
  await draw('name');
  await age(MINUTE);
  await getCard();
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
});

test('is drawn again a minute later when the server has another banner, icon or game', async () => {
  await getCard();
  await draw();
  const id = 'a'.repeat(64);
  for (const change of [
    { 'profile.banner': { wide: id, narrow: id, width: 1_200, height: 300 } },
    { 'profile.icon': { source: 's', picture: id } },
    { game: 'rust' },
  ]) {
    await web.deps.servers.updateOne({ _id: serverId }, { $set: change });
    await age(MINUTE);
    await getCard();
    expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
    await draw();
    await age(MINUTE);
    await getCard();
    expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
  }
});

test('a network causes sixty drawings a minute; over it the stored card or the placeholder is sent', async () => {
  const resetAt = after(web.deps.clock.now(), MINUTE);
  await web.deps.rateLimits.insertOne({ _id: 'cards:address:127.0.0.1', count: 60, resetAt });
  expect((await getCard()).statusCode).toBe(200);
  expect(await card()).toBeNull();
  await web.deps.rateLimits.deleteMany({});
  await getCard();
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
});

test('that cannot be drawn is tried three times, then not for an hour', async () => {
  await getCard();
  const fail = () =>
    drawn(async () => {
      throw new PictureProcessError('timeout', 'too slow');
    });
  for (let n = 1; n <= 3; n += 1) {
    expect(await fail()).toBe('failed');
    const dueNow = { $set: { dueAt: web.deps.clock.now() } };
    await web.deps.previewCards.updateOne({ _id: serverId, dueAt: { $exists: true } }, dueNow);
  }
  expect(await draw()).toBe('not-due');
  await getCard();
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
  const { failedUntil } = (await card()) ?? {};
  expect(failedUntil?.getTime()).toBeGreaterThan(after(web.deps.clock.now(), HOUR - MINUTE).getTime());
  const before = after(web.deps.clock.now(), -MINUTE);
  await web.deps.previewCards.updateOne({ _id: serverId }, { $set: { failedUntil: before } });
  await getCard();
  expect(await draw('at last')).toBe('drawn');
});

test('of a worker that stops is due again; of one that died, when its lease has expired', async () => {
  await getCard();
  const stop = drawn(async () => {
    throw new PictureProcessError('stopped', 'it stops');
  });
  await expect(stop).rejects.toMatchObject({ code: 'stopped' });
  expect(await card()).toMatchObject({ attempts: 0 });
  const leaseUntil = new Date(Date.now() + HOUR);
  await web.deps.previewCards.updateOne({ _id: serverId }, { $set: { leaseUntil } });
  expect(await draw()).toBe('not-due');
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([serverId]);
  await web.deps.previewCards.updateOne({ _id: serverId }, { $set: { leaseUntil: new Date(0) } });
  expect(await draw()).toBe('drawn');
});

test('goes with its server, and a hidden or unknown server has none', async () => {
  await getCard();
  await draw();
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { hiddenAt: new Date() } });
  expect((await getCard()).statusCode).toBe(404);
  await removeServer(web.deps, serverId, 'test');
  expect(await card()).toBeNull();
  expect((await getCard()).statusCode).toBe(404);
  expect((await getPage(web, '/servers/nobody/card.png')).statusCode).toBe(404);
  // The server is removed between the request and the drawing.
  const now = web.deps.clock.now();
  await web.deps.previewCards.insertOne({
    _id: serverId,
    askedAt: now,
    key: 'k',
    dueAt: now,
    attempts: 0,
  });
  expect(await draw()).toBe('unwanted');
  expect(await card()).toBeNull();
});

test('the cards over the limit are deleted, those first that were not asked for longest', async () => {
  const now = web.deps.clock.now();
  const { previewCards } = web.deps;
  onTestFinished(async () => void (await previewCards.deleteMany({})));
  const ids = ['a', 'b', 'c', 'd'].map((sign) => sign.repeat(24));
  const cards = ids.map((id, n) => ({
    _id: new ObjectId(id),
    askedAt: after(now, -n * MINUTE),
    key: 'k',
    attempts: 0,
  }));
  await previewCards.insertMany(cards);
  expect(await trimDrawings(web.deps, PREVIEWS, 2)).toBe(2);
  expect((await previewCards.find({}).toArray()).map(({ _id }) => String(_id))).toEqual(ids.slice(0, 2));
  expect(await trimDrawings(web.deps, PREVIEWS)).toBe(0);
});

test('a mark that arrives while a worker draws does not make the drawing void', async () => {
  await getCard();
  const result = await drawn(async () => {
    // Of a request that read the card before it was due. Marks are written up to 100 ms later.
    await markDue(web.deps, PREVIEWS, serverId, 'another look');
    return Buffer.from('drawn');
  });
  expect(result).toBe('drawn');
  expect((await getCard()).body).toBe('drawn');
  expect(await dueDrawings(web.deps, PREVIEWS)).toEqual([]);
});
