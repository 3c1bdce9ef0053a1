import { deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { inLanguage } from '../../../src/language/language.ts';
import { checkBanner, checkIcon } from '../../../src/platform/pictures/check-upload.ts';
import { encodeBanner, encodeIcon } from '../../../src/platform/pictures/encode-picture.ts';
import { inspectPicture } from '../../../src/platform/pictures/inspect-picture.ts';
import type { PictureFailure } from '../../../src/platform/pictures/picture-error.ts';
import { LARGEST_UPLOAD } from '../../../src/platform/pictures/picture-limits.ts';
import { picture, pngChunk, pngOfSize } from '../../support/pictures.ts';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="150"><script>alert(1)</script></svg>';
const png = () => picture(600, 150).png().toBuffer();
const jpeg = () => picture(600, 150).jpeg().toBuffer();
const webp = () => picture(600, 150).webp().toBuffer();
const withEnd = (bytes: Buffer, end: Buffer | string) => Buffer.concat([bytes, Buffer.from(end)]);

/** Two frames of 300 × 100 pixels. */
const frames = () =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: '#123456' } })
    .composite([
      { input: { create: { width: 300, height: 100, channels: 3, background: '#fff' } }, top: 0, left: 0 },
    ])
    .raw()
    .toBuffer()
    .then((raw) => sharp(raw, { raw: { width: 300, height: 200, channels: 3, pageHeight: 100 } }));

/** A chunk behind the header of a PNG. */
const withChunk = (bytes: Buffer, type: string, data: Buffer) =>
  Buffer.concat([bytes.subarray(0, 33), pngChunk(type, data), bytes.subarray(33)]);

/** A progressive JPEG that repeats its scans. */
async function manyScans(): Promise<Buffer> {
  const bytes = await picture(600, 150).jpeg({ progressive: true }).toBuffer();
  const first = bytes.indexOf(Buffer.from('ffda', 'hex'));
  const scans = bytes.subarray(first, -2);
  return Buffer.concat([
    bytes.subarray(0, first),
    ...Array.from({ length: 40 }, () => scans),
    bytes.subarray(-2),
  ]);
}

/** 200 MB of zeros, compressed once. */
let compressed: Buffer | undefined;
function zeros(): Buffer {
  compressed ??= deflateSync(Buffer.alloc(2e8));
  return compressed;
}

const HOSTILE: [string, () => Buffer | Promise<Buffer>, PictureFailure][] = [
  ['an SVG', () => Buffer.from(SVG), 'not-a-picture'],
  ['a compressed SVG', () => gzipSync(SVG), 'not-a-picture'],
  [
    'an HTML page with the name of a picture',
    () => Buffer.from('<!doctype html><script>x</script>'),
    'not-a-picture',
  ],
  ['a GIF', async () => (await frames()).gif().toBuffer(), 'not-a-picture'],
  ['a TIFF', () => picture(600, 150).tiff().toBuffer(), 'not-a-picture'],
  ['a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj'), 'not-a-picture'],
  ['one byte', () => Buffer.from([0xff]), 'not-a-picture'],
  ['an animated PNG', async () => withChunk(await png(), 'acTL', Buffer.alloc(8)), 'animated'],
  ['an animated WebP', async () => (await frames()).webp().toBuffer(), 'animated'],
  ['a PNG bomb: a billion pixels in a kilobyte', () => pngOfSize(50_000, 50_000), 'too-many-pixels'],
  ['a very long line', () => pngOfSize(60_000, 40), 'too-many-pixels'],
  ['a PNG with a size and no pixels', () => pngOfSize(600, 150, Buffer.alloc(0)), 'broken'],
  ['a PNG that ends early', async () => (await png()).subarray(0, -20), 'broken'],
  [
    'a PNG chunk longer than the file',
    async () => Buffer.concat([(await png()).subarray(0, 33), Buffer.from('ffffffff49444154', 'hex')]),
    'broken',
  ],
  [
    'a PNG with a wrong checksum',
    async () => {
      const bytes = await png();
      bytes[30] = (bytes[30] ?? 0) ^ 1;
      return bytes;
    },
    'broken',
  ],
  ['a JPEG that ends early', async () => (await jpeg()).subarray(0, 400), 'broken'],
  ['a JPEG of only markers', () => Buffer.from(`ffd8${'ff'.repeat(500_000)}`, 'hex'), 'broken'],
  ['a JPEG with hundreds of scans', manyScans, 'broken'],
  [
    'a WebP with a wrong length',
    async () => {
      const bytes = await webp();
      bytes.writeUInt32LE(4_000_000_000, 4);
      return bytes;
    },
    'broken',
  ],
  [
    'a WebP of noise',
    async () => {
      const bytes = await webp();
      return bytes.fill(0x5a, 30);
    },
    'broken',
  ],
  [
    'a text chunk that unpacks to 200 MB beside a small picture',
    async () => withChunk(pngOfSize(10, 10), 'zTXt', Buffer.concat([Buffer.from('a\0\0'), zeros()])),
    'too-small',
  ],
  ['a file larger than 1 MB', () => Buffer.alloc(LARGEST_UPLOAD + 1, 0xff), 'too-large'],
  ['a picture of one pixel', () => picture(1, 1).png().toBuffer(), 'too-small'],
];

describe('a banner', () => {
  test.each(HOSTILE)('%s is refused with its reason', async (_name, make, code) => {
    await expect(encodeBanner(await make())).rejects.toMatchObject({ name: 'PictureError', code });
  });

  test.each([
    ['png', png],
    ['jpeg', jpeg],
    ['webp', webp],
  ] as const)('of %s becomes WebP in two sizes without metadata', async (_format, make) => {
    const tagged = await sharp(await make())
      .resize(2_400, 600)
      .withExif({ IFD0: { Copyright: 'GPS 52.5, 13.4' } })
      .toBuffer();
    expect(tagged.includes('GPS 52.5')).toBe(true);
    const { wide, narrow } = await encodeBanner(tagged);
    for (const [{ bytes, width, height }, size] of [
      [wide, [1_200, 300]],
      [narrow, [600, 150]],
    ] as const) {
      expect([width, height]).toEqual(size);
      expect(bytes.toString('latin1', 8, 12)).toBe('WEBP');
      expect(await sharp(bytes).metadata()).toMatchObject({ width, height, format: 'webp' });
      expect(bytes.includes('GPS 52.5') || bytes.includes('EXIF')).toBe(false);
    }
  });

  test('is turned as the camera was held, cut to a banner, and never enlarged', async () => {
    const turned = await picture(300, 900).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { wide, narrow } = await encodeBanner(turned);
    expect([wide.width, wide.height]).toEqual([900, 300]);
    expect([narrow.width, narrow.height]).toEqual([600, 200]);
    const square = await encodeBanner(await picture(500, 500).png().toBuffer());
    expect([square.wide.width, square.wide.height]).toEqual([500, 167]);
    const flat = await encodeBanner(await picture(2_000, 50).png().toBuffer());
    expect([flat.wide.width, flat.wide.height]).toEqual([400, 50]);
  });

  test.each([
    ['png', png],
    ['jpeg', jpeg],
    ['webp', webp],
  ] as const)('of %s states its size in its structure', async (format, make) => {
    const bytes = await make();
    expect(inspectPicture(bytes)).toEqual({ format, width: 600, height: 150, end: bytes.length });
  });

  test('of lossless and of extended WebP states its size too', async () => {
    const lossless = await picture(601, 151).webp({ lossless: true }).toBuffer();
    expect(inspectPicture(lossless)).toMatchObject({ width: 601, height: 151 });
    const extended = await picture(333, 77)
      .withExif({ IFD0: { Copyright: 'x' } })
      .webp()
      .toBuffer();
    expect(extended.toString('latin1', 12, 16)).toBe('VP8X');
    expect(inspectPicture(extended)).toMatchObject({ width: 333, height: 77 });
  });

  test('held upright by a camera is left to the encoder, which turns it', async () => {
    const turned = await picture(40, 300).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    checkBanner(turned);
    expect((await encodeBanner(turned)).wide).toMatchObject({ width: 300, height: 40 });
    const upright = await picture(40, 300).jpeg().toBuffer();
    checkBanner(upright);
    await expect(encodeBanner(upright)).rejects.toMatchObject({ code: 'too-small' });
  });
});

/** What only decoding finds: the web process stores it, and a worker refuses it. */
const FOUND_BY_DECODING = [
  'a PNG with a size and no pixels',
  'a PNG with a wrong checksum',
  'a WebP of noise',
];

test.each(
  HOSTILE.filter(([name]) => !FOUND_BY_DECODING.includes(name)),
)('%s is refused without decoding it', async (_name, make, code) => {
  const bytes = await make();
  expect(() => checkBanner(bytes)).toThrow(expect.objectContaining({ name: 'PictureError', code }));
});

describe('a picture with data behind its end', () => {
  /** As phones append it: a film (motion photo), a second JPEG (gain map), notes, the line feed of a clumsy copy. */
  const film = Buffer.concat([Buffer.from('\0\0\0\u0018ftypmp42'), Buffer.alloc(50_000, 7)]);
  test.each<[string, () => Promise<Buffer>, () => Promise<Buffer> | Buffer | string]>([
    ['a JPEG with a film', jpeg, () => film],
    ['a JPEG with a second JPEG', jpeg, jpeg],
    ['a JPEG with zeros', jpeg, () => Buffer.alloc(4_096)],
    ['a PNG with a line feed', png, () => '\n'],
    ['a PNG with a ZIP', png, () => 'PK\u0003\u0004payload'],
    ['a WebP with HTML', webp, () => '<html>'],
  ])('is encoded as without them: %s', async (_, make, tail) => {
    const bytes = await make();
    const file = withEnd(bytes, await tail());
    expect(() => checkBanner(file)).not.toThrow();
    const [plain, encoded] = [await encodeBanner(bytes), await encodeBanner(file)];
    expect(encoded.wide.bytes.equals(plain.wide.bytes)).toBe(true);
    expect(encoded.narrow.bytes.equals(plain.narrow.bytes)).toBe(true);
  });

  test('may be an icon, too', async () => {
    const icon = await picture(64, 64).png().toBuffer();
    expect((await encodeIcon(withEnd(icon, '\r\n'))).bytes.equals((await encodeIcon(icon)).bytes)).toBe(true);
  });
});

test('a refusal is in the language of its own request', async () => {
  const [good, small] = [await png(), await picture(10, 10).png().toBuffer()];
  const [, german, english] = await Promise.allSettled([
    inLanguage('en', async () => checkBanner(good)),
    inLanguage('de', async () => checkBanner(small)),
    inLanguage('en', async () => checkBanner(small)),
  ]);
  expect(german).toMatchObject({ reason: { message: expect.stringContaining('Das Bild hat 10 × 10') } });
  expect(english).toMatchObject({ reason: { message: expect.stringContaining('The picture has 10 × 10') } });
});

describe('an icon', () => {
  test('is a PNG of 64 × 64 pixels', async () => {
    const icon = await encodeIcon(await picture(64, 64).png().toBuffer());
    expect(await sharp(icon.bytes).metadata()).toMatchObject({ format: 'webp', width: 64, height: 64 });
  });

  test.each<[string, () => Promise<Buffer>, PictureFailure]>([
    ['of another size', () => picture(128, 128).png().toBuffer(), 'too-small'],
    ['of another format', () => picture(64, 64).jpeg().toBuffer(), 'not-a-picture'],
    ['of 49 KiB', async () => Buffer.alloc(49 * 1_024), 'too-large'],
  ])('%s is refused', async (_name, make, code) => {
    const bytes = await make();
    expect(() => checkIcon(bytes)).toThrow(expect.objectContaining({ code }));
    await expect(encodeIcon(bytes)).rejects.toMatchObject({ code });
  });
});
