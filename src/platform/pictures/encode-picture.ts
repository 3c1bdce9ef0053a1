import sharp, { type Metadata, type Sharp } from 'sharp';
import { BANNER_LEAST, checkBanner, checkIcon, checkPixels, ICON_SIDE, tooSmall } from './check-upload.ts';
import { inspectPicture, type PictureFormat } from './inspect-picture.ts';
import { PictureError } from './picture-error.ts';
import { MOST_PIXELS } from './picture-limits.ts';
import type { Made } from './picture-tasks.ts';

// Only the picture process (picture-child.ts) may import this file: native code decodes strangers' pictures here.
sharp.concurrency(1);
sharp.cache(false);

/** The largest widths of the two sizes, in pixels. */
const BANNER = { wide: 1_200, narrow: 600 } as const;
/** The limits of width divided by height. A wider banner is cut left and right, a taller one at the top and bottom. */
const BANNER_RATIO = { least: 3, most: 8 } as const;

const TIMEOUT_SECONDS = 5;

/** @throws {PictureError} in the same cases as `checkBanner`, and when the library cannot read the picture */
export async function encodeBanner(bytes: Buffer): Promise<{ wide: Made; narrow: Made }> {
  checkBanner(bytes);
  const { image, width, height } = await openUpload(bytes);
  if (width < BANNER_LEAST.width || height < BANNER_LEAST.height) throw tooSmall(width, height);
  const ratio = Math.min(Math.max(width / height, BANNER_RATIO.least), BANNER_RATIO.most);
  const size = (most: number) => {
    const shown = Math.min(most, width, Math.floor(height * ratio));
    return { width: shown, height: Math.max(1, Math.round(shown / ratio)) };
  };
  const resized = image.autoOrient().resize({ ...size(BANNER.wide), fit: 'cover' });
  const wide = await encoded(resized.webp({ quality: 82 }));
  const { image: again } = await open(wide.bytes, 'webp');
  const narrow = await encoded(again.resize({ ...size(BANNER.narrow), fit: 'cover' }).webp({ quality: 78 }));
  return { wide, narrow };
}

/** @throws {PictureError} for anything but a PNG of 64 × 64 pixels */
export async function encodeIcon(bytes: Buffer): Promise<Made> {
  checkIcon(bytes);
  const { image, width, height } = await openUpload(bytes);
  if (width !== ICON_SIDE || height !== ICON_SIDE) throw new PictureError('too-small');
  return await encoded(image.webp({ lossless: true }));
}

/** Bytes after the picture's end are not given to the library. */
function openUpload(file: Buffer): ReturnType<typeof open> {
  const { format, end } = inspectPicture(file);
  return open(file.subarray(0, end), format);
}

/** The size is that after the rotation that a camera stores. */
async function open(
  bytes: Buffer,
  format: PictureFormat,
): Promise<{ image: Sharp; width: number; height: number }> {
  const image = sharp(bytes, { limitInputPixels: MOST_PIXELS, sequentialRead: true, pages: 1 });
  const metadata = await image.metadata().catch(refuse);
  if (metadata.format !== format) throw new PictureError('broken');
  if ((metadata.pages ?? 1) > 1) throw new PictureError('animated');
  const { width, height } = sizeOf(metadata);
  checkPixels(width, height);
  return { image, width, height };
}

function sizeOf({ autoOrient, width, height }: Metadata): { width: number; height: number } {
  return { width: autoOrient.width ?? width, height: autoOrient.height ?? height };
}

async function encoded(image: Sharp): Promise<Made> {
  const { data, info } = await image
    .timeout({ seconds: TIMEOUT_SECONDS })
    .toBuffer({ resolveWithObject: true })
    .catch(refuse);
  return { bytes: data, width: info.width, height: info.height };
}

/** The library has no error codes, so its message is examined. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('timeout')) throw new PictureError('slow');
  if (message.includes('pixel limit')) throw new PictureError('too-many-pixels');
  throw new PictureError('broken');
}
