import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast } from '../../src/site/look/accent.ts';
import { ICON_SHAPES } from '../../src/site/look/icon-shapes.ts';
import { ICONS, shapeOf } from '../../tools/look.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const DOCUMENT = read('docs/design-system.md');
const CSS = read('src/site/styles/tokens.css');

/** Each colour of tokens.css, in the light and in the dark scheme. */
const COLOURS = new Map(
  [...CSS.matchAll(/--([\w-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));/g)].map(
    ([, name = '', light, dark, both = '']) => [name, [light ?? both, dark ?? both]] as const,
  ),
);

/** Texts, and the grounds on which pages have them. */
const TEXTS = [
  ['ink', 'paper card well accent-soft quiet-soft good-soft bad-soft attention-soft'],
  ['soft', 'paper card well accent-soft quiet-soft'],
  ['accent', 'paper card well accent-soft'],
  ['on-accent', 'accent'],
  ['on-deep', 'deep'],
  ['on-deep-soft', 'deep'],
  ['deep', 'on-deep'],
  ['on-vote', 'vote vote-over'],
  ['good', 'card good-soft'],
  ['bad', 'paper card bad-soft'],
  ['card', 'bad'],
  ['attention', 'paper card attention-soft'],
  ['star', 'card'],
] as const;

/** Edges of fields and buttons, signs, and the outline of the focus. “Vote” on paper is told by its lower edge. */
const EDGES = [
  ['edge', 'paper card well'],
  ['on-deep-edge', 'deep'],
  ['accent', 'paper'],
  ['star-fill', 'card'],
  ['vote', 'card'],
  ['vote-under', 'paper'],
] as const;

const pairs = (list: typeof TEXTS | typeof EDGES, least: number) =>
  list.flatMap(([colour, grounds]) => grounds.split(' ').map((ground) => [colour, ground, least] as const));

test.each([
  ...pairs(TEXTS, 4.5),
  ...pairs(EDGES, 3),
])('%s on %s has %d : 1, as documented', (colour, ground, least) => {
  const [colours = [], grounds = []] = [COLOURS.get(colour), COLOURS.get(ground)];
  const ratios = [0, 1].map((scheme) => contrast(colours[scheme] ?? '', grounds[scheme] ?? ''));
  for (const ratio of ratios) expect(ratio).toBeGreaterThanOrEqual(least);
  const [light, dark] = ratios.map((ratio) => ratio.toFixed(1));
  expect(DOCUMENT).toContain(`| \`--${colour}\` on \`--${ground}\` | ${light} | ${dark} |`);
});

test('the icons are those of the package', async () => {
  const shapes = await Promise.all(ICONS.map(async (name) => [name, await shapeOf(name)] as const));
  expect(ICON_SHAPES).toEqual(Object.fromEntries(shapes));
});

/** The code points of each `unicode-range` of the stylesheet, in their order. */
const ranges = [...CSS.matchAll(/unicode-range: ([^;]+);/g)].map(([, list = '']) =>
  list.split(', ').flatMap((one) => {
    const [from = 0, to = from] = one
      .slice(2)
      .split('-')
      .map((digits) => Number.parseInt(digits, 16));
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  }),
);

test('a letter is in one file of the display face: Latin-1 in the one that every page loads, others in the other', () => {
  const [every = [], others = []] = ranges.map((points) => new Set(points));
  expect(ranges).toHaveLength(2);
  for (const letter of 'AzÄßéñœı€→„') expect(others, letter).not.toContain(letter.codePointAt(0));
  for (const letter of 'AzÄßéñœı€→„') expect(every, letter).toContain(letter.codePointAt(0));
  for (const letter of 'ŁźŐğĞİșțẞ') expect(others, letter).toContain(letter.codePointAt(0));
  expect([...every].filter((point) => [...others].includes(point))).toEqual([]);
});
