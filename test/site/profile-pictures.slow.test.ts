import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isBackedUp } from '../../src/backup/manifest.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { PictureProcessError } from '../../src/platform/pictures/picture-error.ts';
import { createPictureProcess, type PictureProcess } from '../../src/platform/pictures/picture-process.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import { saveDraft } from '../../src/servers/drafts.ts';
import { encodeUpload } from '../../src/servers/encode-upload.ts';
import { removeProfilePart } from '../../src/servers/moderate-server.ts';
import { dueUploads } from '../../src/servers/picture-uploads.ts';
import { storePicture, sweepPictures } from '../../src/servers/pictures.ts';
import { proveDraft } from '../../src/workflows/prove-draft.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { favicon, fileForm, picture, pngOfSize } from '../support/pictures.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: SignedInUser;
let serverId: ObjectId;
let path: string;
let pictureProcess: PictureProcess;

/** Encodes all waiting uploads, as a worker does. */
async function encodeAll() {
  const ends = [];
  for (const id of await dueUploads(web.deps))
    ends.push(await encodeUpload({ ...web.deps, pictureProcess }, id));
  return ends;
}
/** The address of the application. It listens after the first call. */
let listens: Promise<string> | undefined;
async function listening(): Promise<URL> {
  listens ??= web.app.listen({ port: 0, host: '127.0.0.1' });
  return new URL(await listens);
}
const uploads = () => web.deps.pictureUploads.find({ serverId }).toArray();
const profilePage = async () => textOf((await getPage(web, path, owner.headers)).body);

beforeAll(async () => {
  web = await openWebApp({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  pictureProcess = createPictureProcess(web.deps.log);
  atTheEnd(async () => pictureProcess.close());
});
beforeEach(async () => {
  // Each test has a new user, because uploads are limited per user.
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId, { game: 'minecraft' });
  path = `/dashboard/servers/${serverId.toHexString()}/profile`;
});

const serverNow = async () => {
  const server = await web.deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('the server is not there');
  return server;
};
const profileNow = async () => (await serverNow()).profile;
const stored = (id: string | null | undefined) => web.deps.pictures.findOne({ _id: id ?? '' });
/** Makes all pictures old enough to be deleted. */
const age = () => web.deps.pictures.updateMany({}, { $set: { usedAt: after(web.deps.clock.now(), -DAY) } });
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
    expect(await encodeAll()).toEqual(['encoded']);
    const { banner } = (await profileNow()) ?? {};
    expect(banner).toMatchObject({ width: 1_200, height: 300 });

    const page = (await getPage(web, `/servers/${(await serverNow()).slug}`)).body;
    expect(page).toContain(`/pictures/${banner?.wide}.webp 1200w`);
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
    expect(await web.deps.auditLog.findOne({ serverId, action: 'server.banner' })).toMatchObject({
      by: owner.email,
      details: { width: 1_200, height: 300 },
    });
  });

  test('is deleted when it is replaced or removed, unless another server has the same', async () => {
    const other = await addOwnedServer(web.deps, owner.userId);
    await upload(fileForm({ bytes: await png('#112233') }));
    await encodeAll();
    const first = (await profileNow())?.banner;
    await web.deps.servers.updateOne({ _id: other }, { $set: { 'profile.banner': first as never } });
    await age();
    await upload(fileForm({ bytes: await png('#445566') }));
    await encodeAll();
    const second = (await profileNow())?.banner;
    expect(second?.wide).not.toBe(first?.wide);
    expect(await stored(first?.wide)).not.toBeNull();

    await age();
    expect((await sendForm(web, `${path}/banner/remove`, {}, owner.headers)).statusCode).toBe(303);
    expect(await profileNow()).not.toHaveProperty('banner');
    for (const id of [second?.wide, second?.narrow]) expect(await stored(id)).toBeNull();

    await removeServer(web.deps, other, 'test');
    for (const id of [first?.wide, first?.narrow]) expect(await stored(id)).toBeNull();
  });

  test('that was deleted is served for at most a minute, also if somebody requests it again and again', async () => {
    const now = performance.now.bind(performance);
    let movedMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + movedMs);
    // The cache reads the time once, and again after a timer of a millisecond.
    const moveTo = async (ms: number) => {
      movedMs = ms;
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const id = await storePicture(web.deps, Buffer.from('a picture'));
    const status = async () => (await getPage(web, `/pictures/${id}.webp`)).statusCode;
    expect(await status()).toBe(200);
    await web.deps.pictures.deleteOne({ _id: id });
    await moveTo(40_000);
    expect(await status()).toBe(200);
    await moveTo(80_000);
    expect(await status()).toBe(404);
  });

  test('of an interrupted upload is deleted by the clean-up, and a new or used one stays', async () => {
    const left = await storePicture(web.deps, Buffer.from('left'));
    await upload(fileForm({ bytes: await png('#778899') }));
    await encodeAll();
    await age();
    const fresh = await storePicture(web.deps, Buffer.from('fresh'));
    await sweepPictures(web.deps);
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
    const before = await web.deps.pictures.countDocuments();
    const refused = await upload(form());
    expect(refused.statusCode).toBe(status);
    expect(refused.body).toContain(message);
    expect(await profileNow()).toBeUndefined();
    expect(await web.deps.pictures.countDocuments()).toBe(before);
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
    expect((await upload(form)).statusCode).toBe(400);
    await web.deps.rateLimits.updateMany({ _id: /^banner:/ }, { $set: { count: 19 } });
    expect((await upload(form)).statusCode).toBe(400);
    const refused = await upload(form);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await web.deps.rateLimits.deleteMany({});
  });

  test('of an endless request is answered without reading it', async () => {
    const address = await listening();
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

describe('an uploaded banner', () => {
  /** A JPEG whose metadata say where it was taken. */
  const tagged = () =>
    picture(1_300, 325)
      .withExif({ IFD0: { Copyright: 'GPS 52.5, 13.4' } })
      .jpeg()
      .toBuffer();

  test('is prepared by a worker: until then the old one is shown, and the page says so', async () => {
    await upload(fileForm({ bytes: await png('#abcdef') }));
    await encodeAll();
    const first = (await profileNow())?.banner;
    await upload(fileForm({ bytes: await png('#fedcba') }));
    expect((await profileNow())?.banner).toEqual(first);
    const page = (await getPage(web, path, owner.headers)).body;
    expect(textOf(page)).toContain('The new banner is being prepared. It appears here within seconds');
    expect(page).toContain(`data-hx-get="${path}"`);
    const german = await getPage(web, `${path}?lang=de`, { ...owner.headers, 'accept-language': 'de' });
    expect(textOf(german.body)).toContain('Das neue Banner wird aufbereitet.');
    const shown = (await getPage(web, `/servers/${(await serverNow()).slug}`)).body;
    expect(shown).toContain(`/pictures/${first?.wide}.webp`);
    expect(await encodeAll()).toEqual(['encoded']);
    expect((await profileNow())?.banner?.wide).not.toBe(first?.wide);
    expect(await profileNow()).not.toHaveProperty('bannerUpload');
    expect(await profilePage()).not.toContain('being prepared');
  });

  test('is not served as it came, is in no backup, and is deleted once it is encoded', async () => {
    const bytes = await tagged();
    expect(bytes.includes('GPS 52.5')).toBe(true);
    await upload(fileForm({ bytes }));
    const [stored] = await uploads();
    expect(stored).toMatchObject({ kind: 'banner', by: owner.email });
    for (const name of [stored?._id, createHash('sha256').update(bytes).digest('hex')])
      expect((await web.app.inject(`/pictures/${name}.webp`)).statusCode).toBe(404);
    expect(isBackedUp(web.deps.pictureUploads.collectionName)).toBe(false);
    await encodeAll();
    expect(await uploads()).toEqual([]);
    const { wide } = (await profileNow())?.banner ?? {};
    const served = await web.app.inject(`/pictures/${wide}.webp`);
    expect(served.rawPayload.includes('GPS 52.5')).toBe(false);
  });

  test('that only decoding finds to be damaged is deleted, and the page says why until the next one', async () => {
    await upload(fileForm({ bytes: pngOfSize(600, 150, Buffer.alloc(0)) }));
    expect(await encodeAll()).toEqual(['refused']);
    expect(await uploads()).toEqual([]);
    expect(await profilePage()).toContain(
      'The new banner was refused: The picture is damaged or incomplete.',
    );
    await upload(fileForm({ bytes: await png() }));
    expect(await profilePage()).not.toContain('refused');
    await encodeAll();
    expect((await profileNow())?.banner).toMatchObject({ width: 1_200 });
  });

  test('that is replaced, removed or of a removed server is deleted', async () => {
    await upload(fileForm({ bytes: await png('#101010') }));
    await upload(fileForm({ bytes: await png('#202020') }));
    expect(await uploads()).toHaveLength(1);
    await sendForm(web, `${path}/banner/remove`, {}, owner.headers);
    expect(await uploads()).toEqual([]);
    expect(await profileNow()).not.toHaveProperty('bannerUpload');

    await upload(fileForm({ bytes: await png('#303030') }));
    await encodeAll();
    await upload(fileForm({ bytes: await png('#404040') }));
    const removal = { part: 'banner', reason: 'It shows a flag.' };
    await removeProfilePart(web.deps, serverId, removal, 'operator');
    expect(await uploads()).toEqual([]);
    expect(await profileNow()).not.toHaveProperty('bannerUpload');

    await upload(fileForm({ bytes: await png('#505050') }));
    await removeServer(web.deps, serverId, 'test');
    expect(await uploads()).toEqual([]);
  });

  test('whose request was interrupted, or whose server was removed meanwhile, is deleted by the worker', async () => {
    const now = web.deps.clock.now();
    const left = (uploadedAt: Date, of = serverId) => ({
      _id: new ObjectId().toHexString(),
      serverId: of,
      kind: 'banner' as const,
      bytes: Buffer.from('x'),
      uploadedAt,
      nextAt: now,
      attempts: 0,
      expiresAt: after(now, DAY),
    });
    const [fresh, old, orphan] = [left(now), left(after(now, -2 * MINUTE)), left(now, new ObjectId())];
    await web.deps.pictureUploads.insertMany([fresh, old, orphan]);
    expect((await encodeAll()).toSorted()).toEqual(['not-due', 'unwanted', 'unwanted']);
    // It is not deleted yet, because the server may refer to it in a moment.
    expect((await web.deps.pictureUploads.find({}).toArray()).map(({ _id }) => _id)).toEqual([fresh._id]);
    await web.deps.pictureUploads.deleteMany({});
  });

  test('is tried three times if the picture process dies, then its owner reads why', async () => {
    await upload(fileForm({ bytes: await png('#606060') }));
    const run = async () => {
      throw new PictureProcessError('ended', 'killed');
    };
    const dying = { ...web.deps, pictureProcess: { run, close() {} } };
    const [id = ''] = (await uploads()).map(({ _id }) => _id);
    for (const end of ['failed', 'failed', 'refused']) {
      expect(await encodeUpload(dying, id)).toBe(end);
      await web.deps.pictureUploads.updateOne({ _id: id }, { $set: { nextAt: web.deps.clock.now() } });
    }
    expect(await uploads()).toEqual([]);
    expect(await profilePage()).toContain('Reading the picture took too long.');
  });

  test('of a worker that stops is due again, and the attempt does not count', async () => {
    await upload(fileForm({ bytes: await png('#707070') }));
    const run = async () => {
      throw new PictureProcessError('stopped', 'it stops');
    };
    const [id = ''] = (await uploads()).map(({ _id }) => _id);
    const stopping = { ...web.deps, pictureProcess: { run, close() {} } };
    await expect(encodeUpload(stopping, id)).rejects.toMatchObject({ code: 'stopped' });
    expect(await uploads()).toMatchObject([{ attempts: 0 }]);
    expect(await encodeAll()).toEqual(['encoded']);
  });

  test('that no worker prepared within a day is given up, and MongoDB deletes the file', async () => {
    await upload(fileForm({ bytes: await png() }));
    const [stored] = await uploads();
    const dayLater = after(stored?.uploadedAt ?? new Date(), DAY);
    expect(stored?.expiresAt).toEqual(dayLater);
    const indexes = await web.deps.pictureUploads.indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    const at = after(web.deps.clock.now(), -DAY - MINUTE);
    await web.deps.pictureUploads.deleteMany({});
    await web.deps.servers.updateOne({ _id: serverId }, { $set: { 'profile.bannerUpload.at': at } });
    expect(await profilePage()).toContain('The picture was not prepared. Upload it again.');
  });

  test('is read by a few requests at a time; further ones are told to wait', async () => {
    const address = await listening();
    const form = fileForm({ bytes: await png() });
    const heads = Object.entries({ host: 'localhost', ...OWN_ORIGIN, ...owner.headers, ...form.headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const sockets = Array.from({ length: 16 }, () => {
      const socket = connect(Number(address.port), address.hostname);
      socket.write(`POST ${path}/banner HTTP/1.1\r\naccept: text/html\r\n${heads}\r\n`);
      socket.write(form.payload.subarray(0, 500));
      return socket.on('error', () => undefined);
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const times = { _id: `banner:${owner.userId.toHexString()}` };
    await vi.waitFor(async () => {
      expect((await web.deps.rateLimits.findOne(times))?.count).toBe(16);
    }, EVENTUALLY);
    await vi.waitFor(async () => {
      await web.deps.rateLimits.deleteOne(times);
      expect((await upload(form)).statusCode).toBe(503);
    }, EVENTUALLY);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => {
      await web.deps.rateLimits.deleteOne(times);
      expect((await upload(form)).statusCode).toBe(303);
    }, EVENTUALLY);
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
    await web.deps.servers.updateOne({ _id: serverId }, { $set: { address: '127.0.0.1', port: game.port } });
    const deps = {
      ...web.deps,
      ask: createAsk(web.deps.config),
      canary: { note() {}, works: async () => true },
    };
    const checked = await checkServer(deps, await serverNow());
    expect(checked).toMatchObject({ kind: 'recorded', probe: { ok: true } });
    await game.stop();
    await encodeAll();
    await age();
    return (await profileNow())?.icon;
  }

  test('comes from the server’s answer, follows it, and goes when the server has none', async () => {
    const green = await favicon('#00ff00');
    const first = await check(green);
    expect(await stored(first?.picture)).not.toBeNull();
    expect((await getPage(web, `/servers/${(await serverNow()).slug}`)).body).toContain(
      `<img class="icon" src="/pictures/${first?.picture}.webp" width="112" height="112" alt=""`,
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
    const draft = await saveDraft(web.deps, owner.userId, wanted);
    if (!draft) throw new Error('the draft was not kept');
    await proveDraft({ ...web.deps, ask: createAsk(web.deps.config) }, user, draft._id);
    const { check: found } = (await web.deps.serverDrafts.findOne({ _id: draft._id })) ?? {};
    expect(found).toMatchObject({ reached: true, motd: 'Hello' });
    expect(found).not.toHaveProperty('icon');
    expect(await web.deps.pictureUploads.countDocuments()).toBe(0);
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
    expect(await check('https://tracker.example/icon.png')).not.toHaveProperty('picture');
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
  const plan = await web.deps.servers
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
