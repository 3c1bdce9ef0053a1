import { createHash } from 'node:crypto';
import { type Html, html } from './html.ts';

/** In servers.css: the classes `.h0` to `.h11` and `.p1` to `.p3`. */
const HUES = 12;
const PATTERNS = 3;

function bytesOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type Named = { name: string; game?: string | null | undefined };

function coloursOf({ name, game }: Named): { hue: number; pattern: number } {
  const [hue = 0, pattern = 0] = bytesOf(`${name}\n${game ?? ''}`);
  return { hue: hue % HUES, pattern: (pattern % PATTERNS) + 1 };
}

export function hueOf(server: Named): number {
  return coloursOf(server).hue;
}

export function colourClasses(server: Named): string {
  const { hue, pattern } = coloursOf(server);
  return `h${hue} p${pattern}`;
}

/** `Der Kleine Hof` is `DK`. Digits count too. A name of signs only gives its first sign. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  if (words.length === 0) return Array.from(name.trim())[0] ?? '';
  return words
    .slice(0, 2)
    .map((word) => Array.from(word.toUpperCase())[0])
    .join('');
}

/**
 * Horizontal lines, one square high, whose middles are at whole numbers. `isSet` decides about the squares of the left
 * half; the drawing is symmetrical.
 */
function pathOf(size: number, isSet: (x: number, y: number) => boolean): string {
  let path = '';
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const from = x;
      while (x < size && isSet(Math.min(x, size - 1 - x), y)) x++;
      if (x > from) path += `M${from} ${y}h${x - from}`;
    }
  }
  return path;
}

/** `isFourfold`: the lower half mirrors the upper one too. */
function squares(text: string, size: number, isFourfold = false): string {
  const bytes = bytesOf(text);
  return pathOf(size, (x, y) => {
    const at = ((isFourfold ? Math.min(y, size - 1 - y) : y) * size) / 2 + x;
    return (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  });
}

const hueOfDrawing = (text: string) => (bytesOf(text)[31] ?? 0) % HUES;

/** The body and, for a motif, its marks: the rows of `DRAWN` are one square lower. */
function motifShapes(text: string, chance: number): string[] {
  const rows = motifOf(text, chance);
  return (['#', 'o'] as const).map((sign) => pathOf(16, (x, y) => rows[y - 1]?.[x] === sign));
}

/** A third of the icons are motifs, the others squares with one or two mirrors. `side`: in squares. */
export function iconDrawing(name: string): { shapes: string[]; side: number; hue: number } {
  const [kind = 0, chance = 0] = bytesOf(name).subarray(29);
  const hue = hueOfDrawing(name);
  if (kind % 3 === 0) return { shapes: motifShapes(name, chance), side: 16, hue };
  return { shapes: [squares(name, 8, kind % 3 === 1)], side: 8, hue };
}

type Drawing = { shapes: string[]; side: number; hue: number };

/** `frame`: around the drawing, in squares. */
function drawing({ shapes, side, hue }: Drawing, className: string, pixels: number, frame: number): Html {
  const box = `${-frame} ${-frame - 0.5} ${side + 2 * frame} ${side + 2 * frame}`;
  const size = html`width="${String(pixels)}" height="${String(pixels)}"`;
  return html`<svg class="${className} h${hue}" viewBox="${box}" ${size} aria-hidden="true">${shapes.map(
    (path) => html`<path d="${path}"/>`,
  )}</svg>`;
}

export function pixelPicture(text: string, pixels: number): Html {
  const shapes = motifShapes(text, bytesOf(text)[30] ?? 0);
  return drawing({ shapes, side: 16, hue: hueOfDrawing(text) }, 'pixels', pixels, 0);
}

export function generatedIcon(name: string, pixels: number): Html {
  const drawn = iconDrawing(name);
  return drawing(drawn, 'icon drawn', pixels, drawn.side / 8);
}

export function face(username: string, pixels: number): Html {
  const text = username.toLowerCase();
  return drawing({ shapes: [squares(text, 6)], side: 6, hue: hueOfDrawing(text) }, 'face drawn', pixels, 1);
}

/**
 * Left halves of symmetrical drawings of 16 × 14 squares, row by row: `#` is a square of the body, `o` one of the
 * lighter marks.
 */
const DRAWN = {
  shield:
    '.####### .#oooooo .#o##### .#o####o .#o###oo .#o##ooo .#o#oooo .#o##ooo ..#o##oo ..##o##o ...##o## ....##oo .....### .......#',
  sword:
    '.......# ......#o ......#o ......#o ......#o ......#o ......#o ......#o ..##..#o ..###### ...##### .......o .......o ......##',
  swords:
    'oo...... ooo..... .ooo.... ..ooo... ...ooo.. ....ooo. .....ooo ......oo .....ooo .#..ooo. .##ooo.. ..###... .####... ##..##..',
  castle:
    '.##..##. .##..##. .####### .####### ..###### ..##o### ..##o### ..###### ..####oo ..###ooo ..###ooo ..###ooo .####ooo .####ooo',
  gem: '........ ...##### ..#ooo## .#ooo### #ooo#### ######## .##oo### ..##oo## ...##oo# ....##oo .....### ......## .......# ........',
  skull:
    '...ooooo ..oooooo .ooooooo .ooooooo .o###ooo .o###ooo .o###ooo .oooooo# ..ooooo# ...ooooo ...o#o#o ...o#o#o ...ooooo ........',
  tree: '.......# ......## .....#o# ....#oo# ......## .....o## ....oo## ...##### .....### ....oo## ...oo### ..###### .......o .......o',
  flame:
    '.......# ......## .....### ..#..### ..##.### .###.##o .######o ######oo #####ooo ####oooo ####oooo .####ooo ..####oo ....####',
  crown:
    '........ ........ #......# ##....## ##...### ###..### ####.### ######## ##oo##oo ######## ######## oooooooo ........ ........',
  heart:
    '........ ..####.. .######. .#oo#### .#oo#### .####### .####### ..###### ...##### ....#### .....### ......## .......# ........',
  house:
    '.......# ......## .....### ....#### ...##### ..###### .####### ..oooooo ..oo##oo ..oo##oo ..oooo## ..oooo## ..oooo## ........',
  star: '.......# ......## ......## .....##o ######## .###oooo ..##oooo ...#oooo ...##ooo ...##o## ..####.. ..###... .##..... ........',
  target:
    '.......# ....#### ..##...# ..#....# .#...... .#...... ####..oo ####..oo .#...... .#...... ..#....# ..##...# ....#### .......#',
  gear: '......## ..#..### .####### ..####oo ..###o.. .###o... ####o... ####o... .###o... ..###o.. ..####oo .####### ..#..### ......##',
  mountain:
    '........ .......o ......oo ......oo .....o#o .....### ....#### ....#### ..#.#### .####### .####### ######## ######## ........',
  flask:
    '.....ooo ......#. ......#. ......#. .....#.. ....#... ...#.... ..#ooooo ..#ooooo .#oooooo .#oooooo .####### ..###### ........',
  mushroom:
    '........ .....### ...##### ..##oo## .###oo## .####### #o####oo #o####oo ######## .....ooo .....ooo .....ooo ....oooo ........',
  coin: '........ ....#### ..##oooo .##oo### .#oo###o ##o###oo ##o####o ##o####o ##o####o .#oo##oo .##oo### ..##oooo ....#### ........',
  lock: '....#### ...##... ...#.... ...#.... ...#.... .ooooooo .ooooooo .oooooo# .ooooo## .oooooo# .oooooo# .ooooooo .ooooooo ........',
  bars: 'oooooooo .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# oooooooo .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# oooooooo',
  island:
    '........ .......# ......## ...##### .####### ######## oooooooo .ooooooo ..oooooo ...oo.oo ....o.oo ......oo .......o ........',
  gamepad:
    '........ ........ ........ ..#####. .####### ###o#### ##ooo### ###o#### ######## ####..## ###..... ##...... ........ ........',
  trophy:
    '..oooooo ######## #.###### #.##o### ##.#o### .####### ...##### ....#### ......## ......## .....ooo ...##### ...##### ........',
  helmet:
    '........ ....#### ..###### .####### .####### .######o .#ooooo# .#ooooo# .######o .#####.o .####..o ..###... ........ ........',
} as const;

type Motif = keyof typeof DRAWN;

const MOTIFS = Object.keys(DRAWN) as Motif[];

const KNOWN = new Map(
  Object.entries<Motif>({
    adventure: 'mountain',
    anarchy: 'flame',
    arma3: 'helmet',
    asa: 'mountain',
    ase: 'mountain',
    building: 'castle',
    casual: 'mushroom',
    'co-op': 'trophy',
    counterstrike2: 'target',
    creative: 'star',
    'cross-play': 'gamepad',
    csgo: 'target',
    economy: 'coin',
    factions: 'shield',
    'family-friendly': 'heart',
    garrysmod: 'gear',
    hardcore: 'skull',
    lifesteal: 'heart',
    mbe: 'island',
    minigames: 'gamepad',
    modded: 'gear',
    prison: 'bars',
    projectzomboid: 'skull',
    pve: 'sword',
    pvp: 'swords',
    quests: 'flask',
    roleplay: 'crown',
    skyblock: 'island',
    smp: 'house',
    survival: 'tree',
    teamfortress2: 'flask',
    towny: 'castle',
    unturned: 'house',
    vanilla: 'gem',
    whitelist: 'lock',
  }),
);

/** If `KNOWN` does not have the text, the number `chance` selects a motif. */
function motifOf(text: string, chance: number): string[] {
  const motif = KNOWN.get(text) ?? MOTIFS[chance % MOTIFS.length] ?? 'shield';
  return DRAWN[motif].split(' ');
}
