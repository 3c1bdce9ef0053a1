import { crc32 } from 'node:zlib';
import { html } from '../shared/html.ts';
import type { Logo } from './logo.ts';

/** Of tallyport.svg as PNG, in pixels. On the maskable one, systems cut the corners of the ground to their own shape. */
export const APP_ICONS = [
  { name: 'icon-192.png', side: 192, purpose: 'any' },
  { name: 'icon-512.png', side: 512, purpose: 'any' },
  { name: 'icon-maskable-512.png', side: 512, purpose: 'maskable' },
] as const;

const COLOURS = 256;
/** Colours before this one are the ground at the edges of its round corners; the others lead from the ground to white. */
const FIRST_OPAQUE = 64;

/** One of `APP_ICONS` on a ground of another colour such as `#0f6168`: only its palette changes. */
export function colouredIcon(png: Buffer, ground: string): Buffer {
  const icon = Buffer.from(png);
  const start = icon.indexOf('PLTE');
  const end = start + 4 + 3 * COLOURS;
  const channels = [1, 3, 5].map((at) => Number.parseInt(ground.slice(at, at + 2), 16));
  for (let colour = 0; colour < COLOURS; colour += 1) {
    const white = Math.max(0, colour - FIRST_OPAQUE) / (COLOURS - 1 - FIRST_OPAQUE);
    for (const [index, channel] of channels.entries())
      icon[start + 4 + 3 * colour + index] = Math.round(channel + (255 - channel) * white);
  }
  icon.writeUInt32BE(crc32(icon.subarray(start, end)), end);
  return icon;
}

/**
 * The operator's logo on the ground of the site's head, for which it was made. It is inside the circle that no system
 * cuts off. It is an SVG, because web processes draw no pictures (docs/adr/0110-pictures-are-made-by-workers.md).
 */
export function ownAppIcon({ bytes, type }: Pick<Logo, 'bytes' | 'type'>, ground: string): string {
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 512 512"><rect
  width="512" height="512" fill="${ground}"/><image x="112" y="112" width="288" height="288"
  href="data:${type};base64,${bytes.toString('base64')}"/></svg>`);
}
