import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import type { Metadata, Sharp } from 'sharp';
import { t } from '../language/t.ts';
import { inspectPicture, type PictureFormat } from './inspect-picture.ts';
import { PictureError } from './picture-error.ts';

/** An encoded picture: WebP without metadata. */
export type Encoded = { bytes: Buffer; width: number; height: number };

/** The largest file of an uploaded picture, in bytes. */
export const LARGEST_UPLOAD = 1_024 * 1_024;

const MOST_PIXELS = 16_000_000;
/** The longest side, in pixels. */
const LONGEST_SIDE = 8_192;

/** In pixels. */
const BANNER = { minWidth: 300, minHeight: 40, wide: 1_200, narrow: 600 } as const;
/** Width by height. A banner outside these bounds is cut at its longer sides. */
const BANNER_RATIO = { least: 3, most: 8 } as const;

/** The side of an icon, in pixels. */
const ICON_SIDE = 64;
/** The largest icon, in bytes; one without compression has 16 KiB. */
const LARGEST_ICON = 48 * 1_024;

/** How long one picture may occupy the encoder, in seconds. */
const TIMEOUT_SECONDS = 5;
const MOST_WAITING = 8;

/** One picture at a time in a process: decoding may take 100 MB of memory and a whole processor. */
const encoding = new PQueue({ concurrency: 1 });

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (encoding.size >= MOST_WAITING)
    throw new PictureError('busy', t('Many pictures are being read at this moment. Try again in a minute.'));
  // The queue would start it in the context, and so in the language, of the picture before it.
  return await encoding.add(AsyncLocalStorage.bind(work));
}

/**
 * Reads an uploaded banner and encodes it in two widths, at most 1,200 and 600 pixels. Very high or very flat banners are
 * cut around their centre.
 *
 * @throws {PictureError} for a file that is not one decent picture, or when too many pictures wait
 */
export async function encodeBanner(bytes: Buffer): Promise<{ wide: Encoded; narrow: Encoded }> {
  if (bytes.length > LARGEST_UPLOAD) throw new PictureError('too-large', t('The file is larger than 1 MB.'));
  const format = inspectPicture(bytes);
  return await inTurn(async () => {
    const { image, width, height } = await open(bytes, format);
    if (width < BANNER.minWidth || height < BANNER.minHeight) {
      const least = `${BANNER.minWidth} × ${BANNER.minHeight}`;
      throw new PictureError(
        'too-small',
        t('The picture has {width} × {height} pixels. It needs at least {least}.', { width, height, least }),
      );
    }
    const ratio = Math.min(Math.max(width / height, BANNER_RATIO.least), BANNER_RATIO.most);
    const size = (most: number) => {
      const shown = Math.min(most, width, Math.floor(height * ratio));
      return { width: shown, height: Math.max(1, Math.round(shown / ratio)) };
    };
    const resized = image.autoOrient().resize({ ...size(BANNER.wide), fit: 'cover' });
    const wide = await encoded(resized.webp({ quality: 82 }));
    const { image: again } = await open(wide.bytes, 'webp');
    const narrow = await encoded(
      again.resize({ ...size(BANNER.narrow), fit: 'cover' }).webp({ quality: 78 }),
    );
    return { wide, narrow };
  });
}

/**
 * Encodes a game server's icon: a PNG of 64 × 64 pixels.
 *
 * @throws {PictureError} for anything else, or when too many pictures wait
 */
export async function encodeIcon(bytes: Buffer): Promise<Encoded> {
  if (bytes.length > LARGEST_ICON) throw new PictureError('too-large', t('The icon is too large.'));
  if (inspectPicture(bytes) !== 'png') throw new PictureError('not-a-picture', t('The icon is no PNG.'));
  return await inTurn(async () => {
    const { image, width, height } = await open(bytes, 'png');
    if (width !== ICON_SIDE || height !== ICON_SIDE)
      throw new PictureError(
        'too-small',
        t('The icon must have {side} × {side} pixels.', { side: ICON_SIDE }),
      );
    return await encoded(image.webp({ lossless: true }));
  });
}

/** The library is loaded with the first picture: most processes never need it. */
async function loadSharp() {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** Opens a picture and checks its size; `width` and `height` are those after the rotation of a camera. */
async function open(
  bytes: Buffer,
  format: PictureFormat,
): Promise<{ image: Sharp; width: number; height: number }> {
  const sharp = await loadSharp();
  const image = sharp(bytes, { limitInputPixels: MOST_PIXELS, sequentialRead: true, pages: 1 });
  const metadata = await image.metadata().catch(refuse);
  if (metadata.format !== format) throw brokenPicture();
  if ((metadata.pages ?? 1) > 1) throw new PictureError('animated', t('The picture is animated.'));
  const { width, height } = sizeOf(metadata);
  if (width * height > MOST_PIXELS || Math.max(width, height) > LONGEST_SIDE) {
    throw new PictureError(
      'too-many-pixels',
      t(
        'The picture has {width} × {height} pixels. It may have at most 16 million, and {longest} on a side.',
        { width, height, longest: LONGEST_SIDE },
      ),
    );
  }
  return { image, width, height };
}

function sizeOf({ autoOrient, width, height }: Metadata): { width: number; height: number } {
  return { width: autoOrient.width ?? width, height: autoOrient.height ?? height };
}

async function encoded(image: Sharp): Promise<Encoded> {
  const { data, info } = await image
    .timeout({ seconds: TIMEOUT_SECONDS })
    .toBuffer({ resolveWithObject: true })
    .catch(refuse);
  return { bytes: data, width: info.width, height: info.height };
}

const brokenPicture = () =>
  new PictureError('broken', t('The picture is damaged or incomplete. Save it again and retry.'));

/** The library has no error codes. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('timeout'))
    throw new PictureError(
      'slow',
      t('Reading the picture took too long. Save it in a simpler form and retry.'),
    );
  if (message.includes('pixel limit'))
    throw new PictureError('too-many-pixels', t('The picture may have at most 16 million pixels.'));
  throw brokenPicture();
}
