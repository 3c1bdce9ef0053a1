import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';

/** The sky and the near hills, the far hills, the sky at the horizon, and the light. */
const PALETTES = [
  ['#0d2b45', '#203c56', '#544e68', '#ffd4a3'],
  ['#14342b', '#2d5a4a', '#60935d', '#f2e3bc'],
  ['#3b1c32', '#6a1e55', '#a64d79', '#ffe0b5'],
  ['#102542', '#1f5673', '#90c3c8', '#fff3d6'],
  ['#40241a', '#7a3b2e', '#c8553d', '#ffd5c2'],
  ['#1d1a31', '#4d2d52', '#9a4c95', '#f6d8ae'],
] as const;

function chanceOf(text: string): number {
  return hash('sha256', text, 'buffer').readUInt32BE(0) / 2 ** 32;
}

const WIDTH = 1_200;
const HEIGHT = 300;

function paletteOf(name: string): (typeof PALETTES)[number] {
  const index = Math.floor(chanceOf(`${name} palette`) * PALETTES.length);
  return PALETTES[index] ?? PALETTES[0];
}

function hills(name: string, base: number, height: number): string {
  const points = Array.from({ length: 13 }, (_, i) => {
    const y = base - height * chanceOf(`${name} ${base} ${i}`);
    return `${i * 100},${Math.round(y)}`;
  });
  return `M0,${HEIGHT} L${points.join(' L')} L${WIDTH},${HEIGHT} Z`;
}

/** `art/ember-keep` is of Ember Keep. */
async function drawingOf(name: string, extension: 'svg' | 'webp'): Promise<Buffer | undefined> {
  const file = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return readFile(new URL(`./art/${file}.${extension}`, import.meta.url)).catch(() => undefined);
}

/** Its banner looks like a careless upload. */
const CARELESS = 'Nightfall Prison';

export async function sampleBanner(name: string): Promise<Buffer> {
  return (await drawingOf(name, 'webp')) ?? (name === CARELESS ? drawPhoto(name) : drawHills(name));
}

async function drawPhoto(name: string): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 120, sigma: 70 } as const;
  const text =
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="936" height="120"><text x="20" y="84"
    font-family="serif" font-size="72" font-weight="bold" fill="#ff0" stroke="#f0f" stroke-width="3">${name} !!! JOIN NOW</text></svg>`);
  return sharp({ create: { width: 936, height: 120, channels: 3, background: '#732', noise } })
    .blur(9)
    .modulate({ saturation: 4 })
    .tint('#a0522d')
    .composite([{ input: text }])
    .jpeg({ quality: 40 })
    .toBuffer();
}

async function drawHills(name: string): Promise<Buffer> {
  const [sky, far, horizon, light] = paletteOf(name);
  const at = (what: string, most: number) => Math.round(chanceOf(`${name} ${what}`) * most);
  const stars = Array.from(
    { length: 40 },
    (_, i) =>
      `<circle cx="${at(`x${i}`, WIDTH)}" cy="${at(`y${i}`, 160)}" r="${1 + at(`r${i}`, 2)}" fill="${light}" opacity="0.6"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${sky}"/><stop offset="1" stop-color="${horizon}"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#sky)"/>${stars.join('')}
    <circle cx="${150 + at('sun', 900)}" cy="${110 + at('height', 60)}" r="52" fill="${light}"/>
    <path d="${hills(name, 230, 90)}" fill="${far}"/><path d="${hills(name, 280, 70)}" fill="${sky}"/>
  </svg>`;
  return sharp(Buffer.from(svg)).png({ palette: true }).toBuffer();
}

/** An icon as Minecraft servers send it. */
export async function sampleIcon(name: string): Promise<string> {
  const svg = (await drawingOf(name, 'svg')) ?? drawSquares(name);
  const png = await sharp(svg, { density: 600 }).resize(64, 64, { kernel: 'nearest' }).png().toBuffer();
  return `data:image/png;base64,${png.toString('base64')}`;
}

function drawSquares(name: string): Buffer {
  const [sky, , horizon, light] = paletteOf(name);
  const squares = Array.from({ length: 32 }, (_, i) => {
    const [x, y] = [i % 4, Math.floor(i / 4)];
    const chance = chanceOf(`${name} square ${i}`);
    const fill = chance > 0.72 ? light : horizon;
    if (chance < 0.45) return '';
    return [x, 7 - x].map(
      (column) => `<rect x="${column * 8}" y="${y * 8}" width="8" height="8" fill="${fill}"/>`,
    );
  });
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="${sky}"/>${squares.flat().join('')}</svg>`,
  );
}
