import { createHash } from 'node:crypto';
import { type Html, html } from './html.ts';

/** How many hues and patterns the stylesheet has (`.h0` to `.h11`, `.p1` to `.p3` of servers.css). */
const HUES = 12;
const PATTERNS = 3;

/** Bytes that are always the same for a text, and look random. */
function bytesOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type Named = { name: string; game?: string | null | undefined };

/** The number of a server's hue, from its name and game. The same server always looks the same. */
export function hueOf({ name, game }: Named): number {
  return (bytesOf(`${name}\n${game ?? ''}`)[0] ?? 0) % HUES;
}

/** The classes of a server's colours, from its name and game: `h4 p2`. */
export function colourClasses(server: Named): string {
  const pattern = bytesOf(`${server.name}\n${server.game ?? ''}`)[1] ?? 0;
  return `h${hueOf(server)} p${(pattern % PATTERNS) + 1}`;
}

/** The first letters of the first two words of a name, in capitals: `Der Kleine Hof` is `DK`. Empty without letters. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => Array.from(word.toUpperCase())[0])
    .join('');
}

/** A symmetrical drawing of `size` × `size` squares, as one SVG path. */
function squares(text: string, size: number): string {
  const bytes = bytesOf(text);
  const half = size / 2;
  let path = '';
  for (let at = 0; at < half * size; at++) {
    const isSet = ((bytes[at >> 3] ?? 0) >> (at & 7)) & 1;
    if (!isSet) continue;
    const [x, y] = [at % half, Math.floor(at / half)];
    for (const column of [x, size - 1 - x]) path += `M${column} ${y}h1v1h-1z`;
  }
  return path;
}

const hueOfDrawing = (text: string) => (bytesOf(text)[31] ?? 0) % HUES;

/** The drawing in a generated icon: a path in a box of 8 × 8, and the number of its hue. */
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

/** The icon of a server that has none. */
export function generatedIcon(name: string, pixels: number): Html {
  return drawing(name, 8, 'icon', pixels);
}

/** The face of a player, from the name. */
export function face(username: string, pixels: number): Html {
  return drawing(username.toLowerCase(), 6, 'face', pixels);
}
