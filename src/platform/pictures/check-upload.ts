import { t } from '../../language/t.ts';
import { inspectPicture } from './inspect-picture.ts';
import { PictureError } from './picture-error.ts';
import { LARGEST_UPLOAD, LONGEST_SIDE, MOST_MILLION_PIXELS, MOST_PIXELS } from './picture-limits.ts';

export const BANNER_LEAST = { width: 300, height: 40 } as const;

export const ICON_SIDE = 64;
/** In bytes. An icon without compression has 16 KiB. */
const LARGEST_ICON = 48 * 1_024;

/**
 * Decodes nothing, so a small file that would decode to a huge picture costs nothing. The rotation that a camera stores
 * is unknown here, so the encoder may still find that the banner is too small on one side.
 *
 * @throws {PictureError} for a file that is too large or not one valid picture, and for a refused size in pixels
 */
export function checkBanner(bytes: Buffer): void {
  if (bytes.length > LARGEST_UPLOAD) throw new PictureError('too-large');
  const { width, height } = inspectPicture(bytes);
  checkPixels(width, height);
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  if (long < BANNER_LEAST.width || short < BANNER_LEAST.height) throw tooSmall(width, height);
}

/** @throws {PictureError} when a picture of this size would take too much memory or time to decode */
export function checkPixels(width: number, height: number): void {
  if (width * height <= MOST_PIXELS && Math.max(width, height) <= LONGEST_SIDE) return;
  throw new PictureError(
    'too-many-pixels',
    t(
      'The picture has {width} × {height} pixels. It may have at most {million} million, and {longest} on a side.',
      { million: MOST_MILLION_PIXELS, width, height, longest: LONGEST_SIDE },
    ),
  );
}

export function tooSmall(width: number, height: number): PictureError {
  const least = `${BANNER_LEAST.width} × ${BANNER_LEAST.height}`;
  return new PictureError(
    'too-small',
    t('The picture has {width} × {height} pixels. It needs at least {least}.', { width, height, least }),
  );
}

/** @throws {PictureError} for anything but a PNG of 64 × 64 pixels and at most 48 KiB */
export function checkIcon(bytes: Buffer): void {
  if (bytes.length > LARGEST_ICON) throw new PictureError('too-large');
  const { format, width, height } = inspectPicture(bytes);
  if (format !== 'png') throw new PictureError('not-a-picture');
  if (width !== ICON_SIDE || height !== ICON_SIDE) throw new PictureError('too-small');
}
