import { fileURLToPath } from 'node:url';
import { Resvg, renderAsync } from '@resvg/resvg-js';
import sharp from 'sharp';
import { MOST_PIXELS } from './picture-limits.ts';
import type { DrawnPictures, Made, PictureTasks } from './picture-tasks.ts';

// Only the picture process (picture-child.ts) may import this file. Each drawing leaks 3 MB outside the heap, which
// garbage collection does not free (resvg-js 2.6.2).

const file = (url: string | URL) => fileURLToPath(url);

/** The only fonts of drawings, so that a drawing looks the same on every machine. */
const FONTS = [
  file(new URL('../../site/look/bricolage-grotesque-extra-bold.ttf', import.meta.url)),
  ...['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'].map((name) =>
    file(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)),
  ),
];

/**
 * The drawing refers to stored pictures by `href="picture:banner"`.
 *
 * @throws an error or a string of the libraries when the drawing or a picture is damaged
 */
export async function drawSvg(svg: string, pictures: DrawnPictures = {}): Promise<Buffer> {
  let drawing = svg;
  for (const [name, picture] of Object.entries(pictures)) {
    const data = await dataUrl(picture);
    // Text in the drawing cannot contain the attribute, because its quotes are escaped.
    drawing = drawing.replaceAll(`href="picture:${name}"`, () => `href="${data}"`);
  }
  const font = { fontFiles: FONTS, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' };
  const png = (await renderAsync(drawing, { font })).asPng();
  // A photo takes 1 MB as PNG. With 256 colours it takes a quarter.
  return pictures.banner ? sharp(png).png({ palette: true, dither: 0.6, effort: 3 }).toBuffer() : png;
}

/** A stored picture as the data URL of a PNG, because the renderer does not read WebP. */
async function dataUrl({ bytes, width, height }: Made): Promise<string> {
  const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS }).resize({ width, height, fit: 'cover' });
  return `data:image/png;base64,${(await picture.png({ compressionLevel: 1 }).toBuffer()).toString('base64')}`;
}

type Logo = PictureTasks['logo'];

/** In pixels. */
const LOGO_HEIGHT = 96;
const MOST_LOGO_PIXELS = 2_000 ** 2;

/** @throws an error or a string of the libraries when they cannot read the file */
export async function drawLogo({ bytes, format }: Logo['input']): Promise<Logo['result']> {
  if (format === 'svg') {
    const fitTo = { mode: 'height', value: LOGO_HEIGHT } as const;
    const drawn = new Resvg(bytes.toString('utf8'), { fitTo, font: { loadSystemFonts: false } }).render();
    return { png: drawn.asPng(), width: drawn.width, height: drawn.height };
  }
  const picture = sharp(bytes, { limitInputPixels: MOST_LOGO_PIXELS }).resize({ height: LOGO_HEIGHT });
  const { data, info } = await picture.png().toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height };
}

/** As WebP without metadata. Throws as `drawLogo`. */
export async function encodeLogo(logo: Logo['input']): Promise<Made> {
  const { png, width, height } = await drawLogo(logo);
  return { bytes: await sharp(png).webp({ lossless: true }).toBuffer(), width, height };
}
