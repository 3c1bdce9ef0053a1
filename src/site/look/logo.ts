import { readFile, stat } from 'node:fs/promises';
import { Resvg } from '@resvg/resvg-js';
import { ConfigError } from '../../platform/config.ts';
import { inspectPicture } from '../../platform/pictures/inspect-picture.ts';
import { PictureError } from '../../platform/pictures/picture-error.ts';

/** The listing's logo, which is the favicon as well. */
export type Logo = {
  bytes: Buffer;
  extension: 'svg' | 'png' | 'webp';
  type: string;
  /** Its size in the head of a page. */
  width: number;
  height: number;
  /** The same as PNG, for drawings. */
  png: Buffer;
};

const MOST_KILOBYTES = 256;
const MOST_PIXELS = 2_000;
/** In the head of a page, in CSS pixels. */
const HEIGHT = 28;
const WIDEST = 168;
/** The height of the PNG, in pixels. */
const DRAWN_HEIGHT = 96;

const TYPES = { svg: 'image/svg+xml', png: 'image/png', webp: 'image/webp' } as const;

/**
 * Reads and checks the operator's logo: SVG, PNG or WebP, at most 256 KB and 2,000 pixels wide and high.
 *
 * @throws {ConfigError} when it cannot be used
 */
export async function readLogo(file: string): Promise<Logo> {
  const refuse = (why: string) => new ConfigError([`LOGO («${file}») ${why}`]);
  let bytes: Buffer;
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw refuse('is not a file');
    if (stats.size > MOST_KILOBYTES * 1_024) throw refuse(`has more than ${MOST_KILOBYTES} KB`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw refuse(`cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    const { extension, width, height, png } = isSvg(bytes) ? drawnSvg(bytes) : await drawnPicture(bytes);
    if (width > MOST_PIXELS || height > MOST_PIXELS) throw refuse(`has more than ${MOST_PIXELS} pixels`);
    const shown = Math.min(WIDEST, Math.max(1, Math.round((width / height) * HEIGHT)));
    return { bytes, extension, type: TYPES[extension], width: shown, height: HEIGHT, png: await png() };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const why = error instanceof PictureError ? error.message : String(error);
    throw refuse(`is no usable SVG, PNG or WebP picture: ${why}`);
  }
}

type Drawn = {
  extension: Logo['extension'];
  width: number;
  height: number;
  png: () => Buffer | Promise<Buffer>;
};

/** Text that begins as XML does. */
function isSvg(bytes: Buffer): boolean {
  return /^\ufeff?\s*</.test(bytes.toString('utf8', 0, 200));
}

/** @throws a text of the renderer when it is no SVG */
function drawnSvg(bytes: Buffer): Drawn {
  const svg = bytes.toString('utf8');
  const { width, height } = new Resvg(svg);
  const fitTo = { mode: 'height', value: DRAWN_HEIGHT } as const;
  const font = { loadSystemFonts: false };
  return { extension: 'svg', width, height, png: () => new Resvg(svg, { fitTo, font }).render().asPng() };
}

async function drawnPicture(bytes: Buffer): Promise<Drawn> {
  const format = inspectPicture(bytes);
  if (format === 'jpeg') throw new PictureError('not-a-picture', 'The file is a JPEG picture.');
  // Loaded only for pictures.
  const { default: sharp } = await import('sharp');
  const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS ** 2 });
  const { width, height } = await picture.metadata();
  return {
    extension: format,
    width,
    height,
    png: () => picture.resize({ height: DRAWN_HEIGHT }).png().toBuffer(),
  };
}
