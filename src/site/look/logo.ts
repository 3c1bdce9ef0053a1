import { readFile, stat } from 'node:fs/promises';
import { ConfigError } from '../../platform/environment.ts';
import { inspectPicture } from '../../platform/pictures/inspect-picture.ts';
import { PictureError } from '../../platform/pictures/picture-error.ts';
import { LOGO_KILOBYTES } from '../../platform/settings/site-settings.ts';
import { isSvg, SvgError, svgSize } from './svg-size.ts';

/** Also the favicon. `width` and `height` are CSS pixels in the head of a page. */
export type Logo = {
  bytes: Buffer;
  extension: 'svg' | 'png' | 'webp';
  type: string;
  width: number;
  height: number;
};

export const MOST_LOGO_PIXELS = 2_000;
/** In the head of a page, in CSS pixels. */
export const LOGO_HEIGHT = 28;
const WIDEST = 168;

const TYPES = { svg: 'image/svg+xml', png: 'image/png', webp: 'image/webp' } as const;

/** The file is served unchanged, so only its structure is checked, without an image library. Throws `ConfigError`. */
export async function readLogo(file: string): Promise<Logo> {
  const refuse = (why: string) => new ConfigError([`LOGO (“${file}”) ${why}`]);
  let bytes: Buffer;
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw refuse('is not a file');
    if (stats.size > LOGO_KILOBYTES * 1_024) throw refuse(`has more than ${LOGO_KILOBYTES} KB`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw refuse(`cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    const { extension, width, height } = inspectLogo(bytes);
    if (width > MOST_LOGO_PIXELS || height > MOST_LOGO_PIXELS)
      throw refuse(`has more than ${MOST_LOGO_PIXELS} pixels`);
    return { bytes, extension, type: TYPES[extension], ...logoSize({ width, height }) };
  } catch (error) {
    if (!(error instanceof PictureError || error instanceof SvgError)) throw error;
    throw refuse(`is no usable SVG, PNG or WebP picture: ${error.message}`);
  }
}

export function logoSize({ width, height }: { width: number; height: number }) {
  return {
    width: Math.min(WIDEST, Math.max(1, Math.round((width / height) * LOGO_HEIGHT))),
    height: LOGO_HEIGHT,
  };
}

/** @throws {PictureError | SvgError} if it is not an SVG, PNG or WebP picture, or has too many pixels */
export function uploadedFormat(bytes: Buffer): 'svg' | 'png' | 'webp' {
  const { extension, width, height } = inspectLogo(bytes);
  if (width > MOST_LOGO_PIXELS || height > MOST_LOGO_PIXELS) {
    throw new SvgError(`The picture has more than ${MOST_LOGO_PIXELS.toLocaleString('en')} pixels.`);
  }
  return extension;
}

function inspectLogo(bytes: Buffer): { extension: Logo['extension']; width: number; height: number } {
  if (isSvg(bytes)) return { extension: 'svg', ...svgSize(bytes) };
  const { format, width, height } = inspectPicture(bytes);
  if (format === 'jpeg') throw new PictureError('not-a-picture', 'The file is a JPEG picture.');
  return { extension: format, width, height };
}
