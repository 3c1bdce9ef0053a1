import { connect } from 'node:net';
import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { proveDraft } from '../../src/listing/prove-draft.ts';
import { removeServer } from '../../src/listing/remove-server.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import { saveDraft } from '../../src/servers/drafts.ts';
import { storePicture, sweepPictures } from '../../src/servers/pictures.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { favicon, fileForm, picture } from '../support/pictures.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: SignedInUser;
let serverId: ObjectId;
let path: string;

beforeAll(async () => {
  web = await openWebApp({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
});
beforeEach(async () => {
  // Uploads are limited for each user.
  owner = await signIn(web);
  serverId = await addOwnedServer(web.platform, owner.userId, { game: 'minecraft' });
  path = `/dashboard/servers/${serverId.toHexString()}/profile`;
});

const serverNow = async () => {
  const server = await web.platform.servers.findOne({ _id: serverId });
  if (!server) throw new Error('the server is not there');
  return server;
};
const profileNow = async () => (await serverNow()).profile;
const stored = (id: string | null | undefined) => web.platform.pictures.findOne({ _id: id ?? '' });
/** Makes pictures old enough to be deleted. */
const age = () =>
  web.platform.pictures.updateMany({}, { $set: { usedAt: after(web.platform.clock.now(), -DAY) } });
const png = (colour?: string) => picture(1_300, 325, colour).png().toBuffer();

const upload = (form: ReturnType<typeof fileForm>, headers: Record<string, string> = owner.headers) =>
  web.app.inject({
    method: 'POST',
    url: `${path}/banner`,
    headers: { accept: 'text/html', ...OWN_ORIGIN, ...form.headers, ...headers },
    payload: form.payload,
  });

describe('a banner', () => {
  test('is uploaded, shown and served for a year under a name that never changes', async () => {
    const saved = await upload(fileForm({ bytes: await png() }));
    expect(saved.statusCode).toBe(303);
    const { banner } = (await profileNow()) ?? {};
    expect(banner).toMatchObject({ width: 1_200, height: 300 });

    const page = (await getPage(web, `/servers/${(await serverNow()).slug}`)).body;
    expect(page).toContain(`src="/pictures/${banner?.wide}.webp"`);
    expect(page).toContain(`/pictures/${banner?.narrow}.webp 600w`);
    const served = await web.app.inject(`/pictures/${banner?.wide}.webp`);
    expect(served.statusCode).toBe(200);
    expect(served.headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(served.rawPayload.toString('latin1', 8, 12)).toBe('WEBP');
    const again = await web.app.inject({
      url: `/pictures/${banner?.wide}.webp`,
      headers: { 'if-none-match': String(served.headers.etag) },
    });
    expect(again.statusCode).toBe(304);
    expect(await web.platform.auditLog.findOne({ serverId, action: 'server.banner' })).toMatchObject({
      by: owner.email,
      details: { width: 1_200, height: 300 },
    });
  });

  test('is deleted when it is replaced or removed, unless another server has the same', async () => {
    const other = await addOwnedServer(web.platform, owner.userId);
    await upload(fileForm({ bytes: await png('#112233') }));
    const first = (await profileNow())?.banner;
    await web.platform.servers.updateOne({ _id: other }, { $set: { 'profile.banner': first as never } });
    await age();
    await upload(fileForm({ bytes: await png('#445566') }));
    const second = (await profileNow())?.banner;
    expect(second?.wide).not.toBe(first?.wide);
    expect(await stored(first?.wide)).not.toBeNull();

    await age();
    expect((await sendForm(web, `${path}/banner/remove`, {}, owner.headers)).statusCode).toBe(303);
    expect(await profileNow()).not.toHaveProperty('banner');
    for (const id of [second?.wide, second?.narrow]) expect(await stored(id)).toBeNull();

    await removeServer(web.platform, other, 'test');
    for (const id of [first?.wide, first?.narrow]) expect(await stored(id)).toBeNull();
  });

  test('of an interrupted upload is deleted by the clean-up, and a new or used one stays', async () => {
    const left = await storePicture(web.platform, Buffer.from('left'));
    await upload(fileForm({ bytes: await png('#778899') }));
    await age();
    const fresh = await storePicture(web.platform, Buffer.from('fresh'));
    await sweepPictures(web.platform);
    expect(await stored(left)).toBeNull();
    expect(await stored(fresh)).not.toBeNull();
    expect(await stored((await profileNow())?.banner?.wide)).not.toBeNull();
  });

  test.each<[string, () => ReturnType<typeof fileForm>, number, string]>([
    ['no file', () => fileForm({ bytes: '', filename: '' }), 400, 'Choose a picture first.'],
    [
      'text with the type of a picture',
      () => fileForm({ bytes: '<svg onload=alert(1)>' }),
      400,
      'no PNG, JPEG or WebP',
    ],
    ['a file larger than 1 MB', () => fileForm({ bytes: Buffer.alloc(1_048_577) }), 413, 'larger than 1 MB'],
    ['a file of 4 MB', () => fileForm({ bytes: Buffer.alloc(4e6) }), 413, 'larger than 1 MB'],
    ['two files', () => fileForm({ bytes: 'a' }, { bytes: 'b' }), 400, ''],
    [
      'a form without files',
      () => ({
        payload: Buffer.from('a=b'),
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '3' },
      }),
      400,
      'Choose a picture first.',
    ],
    [
      'a form that ends early',
      () => {
        const form = fileForm({ bytes: 'abc' });
        const payload = form.payload.subarray(0, -30);
        return { payload, headers: { ...form.headers, 'content-length': String(payload.length) } };
      },
      400,
      '',
    ],
  ])('%s is refused with a message, and nothing is stored', async (_name, form, status, message) => {
    const before = await web.platform.pictures.countDocuments();
    const refused = await upload(form());
    expect(refused.statusCode).toBe(status);
    expect(refused.body).toContain(message);
    expect(await profileNow()).toBeUndefined();
    expect(await web.platform.pictures.countDocuments()).toBe(before);
  });

  test('is not read from strangers, other sites, or in other forms', async () => {
    const form = fileForm({ bytes: await png() });
    const stranger = await upload(form, (await signIn(web)).headers);
    expect(stranger.statusCode).toBe(404);
    expect((await upload(form, { ...owner.headers, origin: 'https://elsewhere.example' })).statusCode).toBe(
      403,
    );
    const elsewhere = await web.app.inject({
      method: 'POST',
      url: path,
      headers: { accept: 'text/html', ...OWN_ORIGIN, ...form.headers, ...owner.headers },
      payload: form.payload,
    });
    expect(elsewhere.statusCode).toBe(415);
    expect(await profileNow()).toBeUndefined();
  });

  test('can be uploaded twenty times an hour', async () => {
    const form = fileForm({ bytes: 'no picture' });
    for (let i = 0; i < 20; i++) expect((await upload(form)).statusCode).toBe(400);
    const refused = await upload(form);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await web.platform.rateLimits.deleteMany({});
  });

  test('of an endless request is answered without reading it', async () => {
    const address = new URL(await web.app.listen({ port: 0, host: '127.0.0.1' }));
    for (const length of ['content-length: 9000000000', 'transfer-encoding: chunked']) {
      const socket = connect(Number(address.port), address.hostname);
      onTestFinished(() => void socket.destroy());
      const heads = Object.entries({
        host: 'localhost',
        ...OWN_ORIGIN,
        ...owner.headers,
        accept: 'text/html',
      });
      const { 'content-type': type } = fileForm().headers;
      socket.write(
        `POST ${path}/banner HTTP/1.1\r\n${heads.map(([name, value]) => `${name}: ${value}\r\n`).join('')}content-type: ${type}\r\n${length}\r\n\r\n`,
      );
      const answer = await new Promise<string>((resolve, reject) => {
        socket.once('data', (bytes) => resolve(bytes.toString())).once('error', reject);
      });
      expect(answer).toMatch(/^HTTP\/1.1 41[13] /);
    }
  });
});

describe('a picture’s address', () => {
  test.each([
    '/pictures/x.webp',
    `/pictures/${'0'.repeat(64)}.webp`,
    `/pictures/${'0'.repeat(64)}.svg`,
    `/pictures/${'0'.repeat(64)}`,
    '/pictures/..%2f..%2fetc%2fpasswd',
    '/pictures/[$ne].webp',
  ])('%s is not found, and not cached', async (url) => {
    const missing = await web.app.inject({ url, headers: { accept: 'text/html' } });
    expect(missing.statusCode).toBe(404);
    expect(missing.headers['cache-control']).toBe('no-store');
  });
});

describe('an icon', () => {
  async function check(icon: unknown) {
    const game = new JavaServer();
    game.status = {
      version: { name: 'Paper', protocol: 769 },
      players: { online: 1, max: 2 },
      description: { text: 'Hello' },
      ...(icon === undefined ? {} : { favicon: icon }),
    };
    await game.start();
    await web.platform.servers.updateOne(
      { _id: serverId },
      { $set: { address: '127.0.0.1', port: game.port } },
    );
    const deps = {
      ...web.platform,
      ask: createAsk(web.platform.config),
      canary: { note() {}, works: async () => true },
    };
    const checked = await checkServer(deps, await serverNow());
    expect(checked).toMatchObject({ kind: 'recorded', probe: { ok: true } });
    await game.stop();
    await age();
    return (await profileNow())?.icon;
  }

  test('comes from the server’s answer, follows it, and goes when the server has none', async () => {
    const green = await favicon('#00ff00');
    const first = await check(green);
    expect(await stored(first?.picture)).not.toBeNull();
    expect((await getPage(web, `/servers/${(await serverNow()).slug}`)).body).toContain(
      `<img class="icon" src="/pictures/${first?.picture}.webp" alt="" width="64" height="64"`,
    );
    expect(await check(green)).toEqual(first);
    const second = await check(await favicon('#ff0000'));
    expect(second?.picture).not.toBe(first?.picture);
    expect(await stored(first?.picture)).toBeNull();
    expect(await check(undefined)).toBeUndefined();
    expect(await stored(second?.picture)).toBeNull();
  });

  test('is not stored with a draft', async () => {
    const game = new JavaServer();
    await game.start();
    onTestFinished(() => game.stop());
    game.status = {
      version: { name: 'Paper', protocol: 769 },
      players: { online: 1, max: 2 },
      description: { text: 'Hello' },
      favicon: await favicon(),
    };
    const user = { _id: owner.userId, email: owner.email };
    const wanted = { name: 'New', address: '127.0.0.1', port: game.port, game: 'minecraft' };
    const draft = await saveDraft(web.platform, owner.userId, wanted);
    if (!draft) throw new Error('the draft was not kept');
    await proveDraft({ ...web.platform, ask: createAsk(web.platform.config) }, user, draft._id);
    const { check: found } = (await web.platform.serverDrafts.findOne({ _id: draft._id })) ?? {};
    expect(found).toMatchObject({ reached: true, motd: 'Hello' });
    expect(found).not.toHaveProperty('icon');
  });

  test('that an operator removed stays away until the server sends another one', async () => {
    const icon = await favicon('#0000ff');
    const first = await check(icon);
    const operator = await signIn(web, { role: 'operator' });
    const removed = await sendForm(
      web,
      `/operator/servers/${serverId.toHexString()}/profile/remove`,
      { part: 'icon', profileReason: 'It shows a flag.' },
      operator.headers,
    );
    expect(removed.statusCode).toBe(303);
    expect(await stored(first?.picture)).toBeNull();
    expect(await check(icon)).not.toHaveProperty('picture');
    expect(await check(undefined)).not.toHaveProperty('picture');
    expect(await check(icon)).not.toHaveProperty('picture');
    expect((await profileNow())?.removals).toMatchObject([{ part: 'icon', reason: 'It shows a flag.' }]);
    expect(await check(await favicon('#00ffff'))).toHaveProperty('picture');
    expect((await profileNow())?.removals).toEqual([]);
  });

  test.each([
    ['an SVG', () => `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`],
    ['a web address', () => 'https://tracker.example/icon.png'],
    ['no base64', () => 'data:image/png;base64,%%%'],
    [
      'another size',
      async () => `data:image/png;base64,${(await picture(65, 64).png().toBuffer()).toString('base64')}`,
    ],
    ['nothing', () => ''],
  ])('with %s is not stored, and the server counts as online', async (_name, make) => {
    expect(await check(await make())).toEqual({ source: expect.any(String) });
    expect((await serverNow()).probe.status).toBe('online');
  });

  test.each([[12], [{ a: 1 }], ['x'.repeat(70_000)]])('of another kind is ignored: %#', async (icon) => {
    expect(await check(icon)).toBeUndefined();
  });
});

test('a picture that nobody uses is found by an index', async () => {
  const any = { $in: ['a'.repeat(64)] };
  const plan = await web.platform.servers
    .find({
      $or: [
        { 'profile.icon.picture': any },
        { 'profile.banner.wide': any },
        { 'profile.banner.narrow': any },
      ],
      removedAt: null,
    })
    .explain();
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toContain('COLLSCAN');
});
