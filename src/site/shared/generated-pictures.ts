import { createHash } from 'node:crypto';
import { type Html, html } from './html.ts';
import { motifOf } from './pixel-motifs.ts';

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

/** `h4 p2` */
export function colourClasses(server: Named): string {
  const { hue, pattern } = coloursOf(server);
  return `h${hue} p${pattern}`;
}

/** `Der Kleine Hof` is `DK`. Digits count too. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => Array.from(word.toUpperCase())[0])
    .join('');
}

/** `isSet` decides about the squares of the left half; the drawing is symmetrical. */
function pathOf(size: number, isSet: (x: number, y: number) => boolean): string {
  let path = '';
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const from = x;
      while (x < size && isSet(Math.min(x, size - 1 - x), y)) x++;
      if (x > from) path += `M${from} ${y}h${x - from}v1h-${x - from}z`;
    }
  }
  return path;
}

function squares(text: string, size: number): string {
  const bytes = bytesOf(text);
  return pathOf(size, (x, y) => {
    const at = (y * size) / 2 + x;
    return (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  });
}

const hueOfDrawing = (text: string) => (bytesOf(text)[31] ?? 0) % HUES;

/** The path is in a box of 8 × 8. */
export function iconDrawing(name: string): { path: string; hue: number } {
  return { path: squares(name, 8), hue: hueOfDrawing(name) };
}

function drawing(text: string, squaresAside: number, className: string, pixels: number): Html {
  const hue = `h${hueOfDrawing(text)}`;
  const box = `-1 -1 ${squaresAside + 2} ${squaresAside + 2}`;
  const size = html`width="${String(pixels)}" height="${String(pixels)}"`;
  return html`<svg class="${className} drawn ${hue}" viewBox="${box}" ${size} aria-hidden="true"><path
    d="${squares(text, squaresAside)}"/></svg>`;
}

/** For a game or tag without a drawing. */
export function pixelPicture(text: string, pixels: number): Html {
  const hue = `h${hueOfDrawing(text)}`;
  const rows = motifOf(text, bytesOf(text)[30] ?? 0);
  const shade = (sign: '#' | 'o') => pathOf(16, (x, y) => rows[y - 1]?.[x] === sign);
  const size = html`width="${String(pixels)}" height="${String(pixels)}"`;
  return html`<svg class="pixels ${hue}" viewBox="0 0 16 16" ${size} aria-hidden="true"><path class="body"
    d="${shade('#')}"/><path class="marks" d="${shade('o')}"/></svg>`;
}

export function generatedIcon(name: string, pixels: number): Html {
  return drawing(name, 8, 'icon', pixels);
}

/** The picture of a player. */
export function face(username: string, pixels: number): Html {
  return drawing(username.toLowerCase(), 6, 'face', pixels);
}
