/**
 * `npm run look`: writes the files of `src/site/look/` that come from packages: the shapes of the icons, and the display
 * face with the characters that the site sets in it. Run it after a change of ICONS or of a package's version.
 */
import { readFile, writeFile } from 'node:fs/promises';
import subsetFont from 'subset-font';

/** The icons of the site, by their names in Lucide (https://lucide.dev). */
export const ICONS = [
  'arrow-down',
  'arrow-right',
  'arrow-up',
  'bell',
  'calendar-plus',
  'check',
  'chevron-left',
  'chevron-right',
  'circle-help',
  'clock',
  'copy',
  'eye-off',
  'flag',
  'gamepad-2',
  'globe',
  'heart',
  'info',
  'lightbulb',
  'link',
  'list',
  'log-in',
  'log-out',
  'menu',
  'message-circle',
  'play',
  'plug-zap',
  'plus',
  'rows-3',
  'rss',
  'search',
  'share-2',
  'shield-check',
  'shuffle',
  'sliders-horizontal',
  'star',
  'sun-moon',
  'tag',
  'trash-2',
  'trophy',
  'triangle-alert',
  'user',
  'users',
  'video',
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

/** Latin-1, the letters of the other languages of Western and Central Europe, and the punctuation of our texts. */
const CHARACTERS = Array.from({ length: 0x180 - 0x20 }, (_, at) => String.fromCodePoint(0x20 + at))
  .concat(Array.from('‐–—‘’‚“”„†•…‰′″‹›€™←↑→↓−'))
  .join('');

/** The display face: weights 500 to 800 of the characters that titles and names need. */
export async function displayFace(): Promise<Buffer> {
  const of = (subset: string) =>
    new URL(
      import.meta.resolve(
        `@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-${subset}-wght-normal.woff2`,
      ),
    );
  return subsetFont(await readFile(of('latin')), CHARACTERS, {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 500, max: 800, default: 500 } },
  });
}

if (import.meta.main) {
  await writeFile(new URL('icon-shapes.ts', LOOK), await iconShapes());
  await writeFile(new URL('bricolage-grotesque.woff2', LOOK), await displayFace());
}
