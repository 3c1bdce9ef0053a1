import { fileURLToPath } from 'node:url';
import { Resvg, renderAsync } from '@resvg/resvg-js';
import sharp from 'sharp';

// Only the picture process (picture-child.ts) may import this file. Each drawing leaks 3 MB outside the heap, which
// garbage collection does not free (resvg-js 2.6.2).

/** The only fonts of drawings, so that a drawing looks the same on every machine. */
const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'].map((name) =>
  fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)),
);

/**
 * Draws one of Tallyport's own SVG drawings as PNG.
 *
 * @throws a text of the renderer for a damaged drawing
 */
export async function drawSvg(svg: string): Promise<Buffer> {
  const font = { fontFiles: FONTS, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' };
  return (await renderAsync(svg, { font })).asPng();
}

/** The height of a drawn logo, in pixels. */
const LOGO_HEIGHT = 96;
const MOST_LOGO_PIXELS = 2_000 ** 2;

/**
 * Draws the operator's logo as PNG, 96 pixels high.
 *
 * @throws an error or a text of the libraries for a file that they cannot read
 */
export async function drawLogo(
  bytes: Buffer,
  format: 'svg' | 'png' | 'webp',
): Promise<{ png: Buffer; width: number; height: number }> {
  if (format === 'svg') {
    const fitTo = { mode: 'height', value: LOGO_HEIGHT } as const;
    const drawn = new Resvg(bytes.toString('utf8'), { fitTo, font: { loadSystemFonts: false } }).render();
    return { png: drawn.asPng(), width: drawn.width, height: drawn.height };
  }
  const picture = sharp(bytes, { limitInputPixels: MOST_LOGO_PIXELS }).resize({ height: LOGO_HEIGHT });
  const { data, info } = await picture.png().toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height };
}
