import type { ServerInfo } from '../../history/server-info.ts';
import { count, counted } from '../shared/format.ts';
import { html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { SHARE_IMAGE } from '../shared/server-paths.ts';
import { addressOf } from '../shared/server-status.ts';
import { fitted, imageText, STATUS_COLOURS, svgImage, textWidth } from './svg-text.ts';

/** The characters that the fonts contain. If a name has others, the address is drawn instead. */
const DRAWABLE =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]+$/u;

/** The text without pictographs, which are not in the fonts; `fallback` if nothing drawable remains. */
function drawable(text: string, fallback: string): string {
  const plain = imageText(text.replace(/\p{Extended_Pictographic}|\p{Regional_Indicator}|\ufe0f/gu, ''));
  return DRAWABLE.test(plain) && /[\p{L}\p{N}]/u.test(plain) ? plain : fallback;
}

/** DejaVu is wider than the fonts for which `fitted` estimates widths, by this factor. */
const WIDER = 1.1;

/** The height of the site's own logo in the drawing, in pixels. */
const LOGO_HEIGHT = 48;

/**
 * The preview card as an SVG of 1,200 × 630 pixels: name, address, players, rank and votes. A worker converts it to PNG
 * with the fonts of `dejavu-fonts-ttf`.
 *
 * @param logo - is drawn beside the site's name
 */
export function shareDrawing(
  info: ServerInfo,
  site: string,
  logo?: { png: Buffer; width: number; height: number },
): string {
  const { width, height } = SHARE_IMAGE;
  const [edge, right] = [80, width - 80];
  const address = imageText(addressOf(info));
  const name = drawable(info.name, address);
  const players = playersText(info);
  const figures = [
    players,
    `Rank ${count(info.rankPosition)}`,
    `${counted(info.votesCount, 'vote')} in 30 days`,
  ];
  const room = right - edge;
  const line = (text: string, size: number) => fitted(text, size * WIDER, room);
  const nameSize = textWidth(name, 76 * WIDER) <= room ? 76 : 56;
  const logoWidth = logo ? Math.round((logo.width / logo.height) * LOGO_HEIGHT) : 0;
  const beside = logo ? edge + logoWidth + 20 : edge;
  const siteName = fitted(drawable(site, 'Game servers'), 34 * WIDER, right - beside);
  const drawing = html`<rect width="${width}" height="${height}" fill="#1a2124"/>
<rect width="${width}" height="12" fill="${STATUS_COLOURS[info.status]}"/>
${
  logo
    ? html`<image x="${edge}" y="94" width="${logoWidth}" height="${LOGO_HEIGHT}"
  href="data:image/png;base64,${logo.png.toString('base64')}"/>`
    : ''
}
<text x="${beside}" y="130" font-size="34" fill="#9dabae">${siteName}</text>
<text x="${edge}" y="240" font-size="${nameSize}" font-weight="700" fill="#e5ebec">${line(name, nameSize)}</text>
<text x="${edge}" y="320" font-size="38" fill="#9dabae" font-family="DejaVu Sans Mono">${line(address, 38)}</text>
<circle cx="${edge + 16}" cy="428" r="16" fill="${STATUS_COLOURS[info.status]}"/>
${figures.map(
  (text, row) =>
    html`<text x="${edge + 56}" y="${442 + row * 58}" font-size="40" fill="#e5ebec">${line(text, 40)}</text>`,
)}`;
  return String(svgImage({ width, height, label: `${name}: ${figures.join(', ')}`, drawing }));
}
