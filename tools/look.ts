/**
 * `npm run look`: writes the files of `src/site/look/` that come from packages: the shapes of the icons, and the display
 * face with the characters that the site sets in it. Run it after a change of ICONS or of a package's version.
 */
import { readFile, writeFile } from 'node:fs/promises';
import subsetFont from 'subset-font';
import { BANNER_SIZES, type BannerSize, bannerSizeSchema } from '../src/platform/pictures/banner-sizes.ts';
import { drawSvg } from '../src/platform/pictures/draw-svg.ts';
import { CARD_COLOURS } from '../src/site/public/card-colours.ts';

/** The icons of the site, by their names in Lucide (https://lucide.dev). */
export const ICONS = [
  'arrow-down',
  'arrow-right',
  'arrow-up',
  'ban',
  'bell',
  'calendar-plus',
  'chart-line',
  'check',
  'chevron-down',
  'chevron-left',
  'chevron-right',
  'circle-help',
  'clock',
  'copy',
  'external-link',
  'eye-off',
  'file-text',
  'flag',
  'gamepad-2',
  'globe',
  'heart',
  'heart-pulse',
  'image',
  'inbox',
  'info',
  'key-round',
  'layers',
  'layout-dashboard',
  'lightbulb',
  'link',
  'list',
  'list-checks',
  'log-in',
  'log-out',
  'megaphone',
  'menu',
  'message-circle',
  'pause',
  'play',
  'plug',
  'plug-zap',
  'plus',
  'radio-tower',
  'rows-3',
  'rss',
  'scroll-text',
  'search',
  'send',
  'server',
  'settings',
  'share-2',
  'shield-alert',
  'shield-check',
  'shuffle',
  'sliders-horizontal',
  'star',
  'sun-moon',
  'tag',
  'tally-5',
  'trash-2',
  'triangle-alert',
  'trophy',
  'unplug',
  'user',
  'users',
  'video',
  'wrench',
  'x',
  'zap',
] as const;

const LOOK = new URL('../src/site/look/', import.meta.url);

/** The inner elements of an icon's SVG, on one line. */
export async function shapeOf(name: string): Promise<string> {
  const file = new URL(import.meta.resolve(`lucide-static/icons/${name}.svg`));
  const [, inner = ''] = /<svg[^>]*>(.*)<\/svg>/s.exec(await readFile(file, 'utf8')) ?? [];
  return inner
    .trim()
    .replace(/\s*\n\s*/g, '')
    .replace(/ \/>/g, '/>');
}

/** The text of `icon-shapes.ts`. */
export async function iconShapes(): Promise<string> {
  const lines = await Promise.all(ICONS.map(async (name) => `  '${name}':\n    '${await shapeOf(name)}',\n`));
  return `// Written by \`npm run look\` from lucide-static (ISC licence: icons-licence.txt).\nexport const ICON_SHAPES = {\n${lines.join('')}} as const;\n`;
}

/** The characters from one code point to another, both included. */
const range = (from: number, to: number) =>
  String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));

/** The files of the package from which the display face is made. */
type Part = 'latin' | 'latin-ext';

/** The characters of each file. The `unicode-range` of site.css names them too, so that no page loads a file in vain. */
const CHARACTERS: Record<Part, string> = {
  // Latin-1, the letters that French and Turkish add, and the punctuation of our texts.
  latin: `${range(0x20, 0xff)}ıŒœ‐–—‘’‚“”„†•…‰′″‹›€™←↑→↓−`,
  // The letters that other languages add, such as Polish, Hungarian, Turkish and Romanian.
  'latin-ext': `${range(0x100, 0x24f)}${range(0x1e00, 0x1e9f)}`.replace(/[ıŒœ]/g, ''),
};

/** The display face: weights 500 to 800 of the characters that titles and names need. */
export async function displayFace(part: Part): Promise<Buffer> {
  return subsetFont(await packagedFace(part), CHARACTERS[part], {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 500, max: 800, default: 500 } },
  });
}

/** The display face for drawings, in one weight. Their renderer reads neither WOFF2 nor variable fonts. */
export async function drawnFace(): Promise<Buffer> {
  return subsetFont(await packagedFace('latin'), CHARACTERS.latin, {
    targetFormat: 'truetype',
    variationAxes: { wght: 800 },
  });
}

function packagedFace(part: Part): Promise<Buffer> {
  const name = `bricolage-grotesque-${part}-wght-normal.woff2`;
  return readFile(new URL(import.meta.resolve(`@fontsource-variable/bricolage-grotesque/files/${name}`)));
}

/** A preview card without texts and pictures, which is sent until a worker has drawn the server's. */
export function placeholderCard(): Promise<Buffer> {
  const { deep, line } = CARD_COLOURS;
  const part = (x: number, y: number, width: number, height: number, fill: string = line) =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${Math.min(height / 2, 26)}" fill="${fill}"/>`;
  return drawSvg(`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">
    <rect width="1200" height="630" fill="${deep}"/><rect width="1200" height="300" fill="#124a50"/>
    ${part(54, 212, 188, 188, deep)}${part(64, 222, 168, 168)}${part(268, 326, 480, 44)}${part(268, 394, 320, 24)}
    ${[64, 540, 800].map((x) => part(x, 460, 130, 40) + part(x, 518, 190, 22)).join('')}
    <path d="M64 568h1072" stroke="${line}" stroke-width="2"/>${part(64, 588, 140, 22)}</svg>`);
}

/** A banner without texts: the name, players, address and rank are bars. */
export function placeholderBanner(size: BannerSize): Promise<Buffer> {
  const { deep, line } = CARD_COLOURS;
  const { width, height } = BANNER_SIZES[size];
  const part = (x: number, y: number, long: number, high: number) =>
    `<rect x="${x}" y="${y}" width="${long}" height="${high}" rx="${high / 2}" fill="${line}"/>`;
  const [edge, high] = [Math.round(height / 5), Math.round(height / 6)];
  const [first, second] = [edge, height - edge - high];
  return drawSvg(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="${width}" height="${height}" fill="${deep}"/>
    ${part(edge, first, width / 2.5, high)}${part(width - edge - width / 5, first, width / 5, high)}
    ${part(edge, second, width / 4, high)}${part(width - edge - width / 8, second, width / 8, high)}</svg>`);
}

if (import.meta.main) {
  await writeFile(new URL('icon-shapes.ts', LOOK), await iconShapes());
  await writeFile(new URL('bricolage-grotesque.woff2', LOOK), await displayFace('latin'));
  await writeFile(new URL('bricolage-grotesque-ext.woff2', LOOK), await displayFace('latin-ext'));
  await writeFile(new URL('bricolage-grotesque-extra-bold.ttf', LOOK), await drawnFace());
  await writeFile(new URL('../public/card-placeholder.png', LOOK), await placeholderCard());
  for (const size of bannerSizeSchema.options)
    await writeFile(new URL(`../public/banner-placeholder-${size}.png`, LOOK), await placeholderBanner(size));
}
