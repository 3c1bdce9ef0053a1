import type { GoalProgress } from '../../goals/goal-progress.ts';
import type { ServerInfo } from '../../history/server-info.ts';
import { BANNER_SIZES, type BannerSize } from '../../platform/pictures/banner-sizes.ts';
import { count } from '../shared/format.ts';
import { toGo } from '../shared/goal-parts.ts';
import { type Html, html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { BANNER } from '../shared/server-paths.ts';
import { serverAddress } from '../shared/server-status.ts';
import { CARD_COLOURS } from './card-colours.ts';
import { drawable, face, MONO, WIDER } from './drawn-text.ts';
import { fitted, imageText, svgImage, textWidth } from './svg-text.ts';

const STATUS_COLOURS = { online: CARD_COLOURS.good, offline: CARD_COLOURS.bad, unknown: CARD_COLOURS.soft };

/** In pixels. `base` is where the texts of a line stand. */
type Layout = {
  width: number;
  height: number;
  edge: number;
  corner: number;
  dot: { radius: number; y: number };
  first: { base: number; name: number; players: number };
  second: { base: number; address: number; rank: number };
  third: { base: number; text: number };
};

/** The fonts, and how much wider they are than `textWidth` estimates. */
type Fonts = {
  wider: number;
  /** What of a text is drawn; `fallback` if nothing of it can be. */
  shown: (text: string, fallback: string) => string;
  name: (text: string) => Html;
  mono: Html;
};

const SVG: Layout = {
  ...BANNER,
  edge: 20,
  corner: 12,
  dot: { radius: 6, y: 30 },
  first: { base: 37, name: 20, players: 15 },
  second: { base: 61, address: 14, rank: 15 },
  third: { base: 82, text: 12 },
};

/** `Layout` of the PNGs. They have square corners, because a forum's background is not known. */
const PNG: Record<BannerSize, Layout> = {
  '468x60': {
    ...BANNER_SIZES['468x60'],
    edge: 12,
    corner: 0,
    dot: { radius: 5, y: 17 },
    first: { base: 22, name: 15, players: 12 },
    second: { base: 38, address: 11, rank: 12 },
    third: { base: 53, text: 10 },
  },
  '728x90': {
    ...BANNER_SIZES['728x90'],
    edge: 18,
    corner: 0,
    dot: { radius: 7, y: 26 },
    first: { base: 34, name: 22, players: 16 },
    second: { base: 58, address: 14, rank: 16 },
    third: { base: 79, text: 13 },
  },
};

/** The reader's fonts. */
const OF_READER: Fonts = {
  wider: 1.08,
  shown: (text) => imageText(text),
  name: () => html`font-weight="800"`,
  mono: html`font-family="ui-monospace, 'DejaVu Sans Mono', monospace"`,
};

/** The fonts of the worker. Of a name in another script, the address is drawn instead. */
const OF_WORKER: Fonts = { wider: WIDER, shown: drawable, name: face, mono: MONO };

type Shown = { info: ServerInfo; site: string; goal: GoalProgress | null };

export function drawBanner(info: ServerInfo, site: string, goal: GoalProgress | null = null): Html {
  return bannerOf(SVG, OF_READER, { info, site, goal });
}

/** The same as an SVG that a worker converts to PNG. */
export function bannerDrawing(size: BannerSize, shown: Shown): string {
  return String(bannerOf(PNG[size], OF_WORKER, shown));
}

function bannerOf(layout: Layout, fonts: Fonts, { info, site, goal }: Shown): Html {
  const { width, height, edge, corner, dot, first, second, third } = layout;
  const { deep, line, text, soft } = CARD_COLOURS;
  const right = width - edge;
  const left = edge + 2 * dot.radius + 10;
  const fits = (shown: string, size: number, room: number) => fitted(shown, size * fonts.wider, room);
  const widthOf = (shown: string, size: number) => textWidth(shown, size * fonts.wider);
  const fullAddress = imageText(serverAddress(info));
  const name = fonts.shown(info.name, fullAddress);
  const players = playersText(info);
  const rank = `Rank ${count(info.rankPosition)}`;
  const nameRoom = right - left - 14 - widthOf(players, first.players);
  const address = name === fullAddress ? '' : fullAddress;
  const addressRoom = right - edge - 14 - widthOf(rank, second.rank);
  const goalText = goal ? `Vote goal: ${toGo(goal)}` : '';
  const siteRoom = right - edge - 14 - widthOf(goalText, third.text);
  const where = `${info.listingPause ? 'Listed' : 'Vote'} on ${fonts.shown(site, 'this listing')}`;
  const end = (base: number, size: number, shown: string) =>
    html`<text x="${right}" y="${base}" font-size="${size}" fill="${text}" text-anchor="end">${shown}</text>`;
  const drawing = html`<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}"
  rx="${corner}" fill="${deep}" stroke="${line}"/>
<circle cx="${edge + dot.radius}" cy="${dot.y}" r="${dot.radius}" fill="${STATUS_COLOURS[info.status]}"/>
<text x="${left}" y="${first.base}" font-size="${first.name}" ${fonts.name(name)}
  fill="${text}">${fits(name, first.name, nameRoom)}</text>
${end(first.base, first.players, players)}
<text x="${edge}" y="${second.base}" font-size="${second.address}" fill="${soft}"
  ${fonts.mono}>${fits(address, second.address, addressRoom)}</text>
${end(second.base, second.rank, rank)}
<text x="${edge}" y="${third.base}" font-size="${third.text}"
  fill="${soft}">${fits(where, third.text, siteRoom)}</text>
${goal ? end(third.base, third.text, goalText) : ''}`;
  return svgImage({ width, height, label: `${name}: ${players}, ${rank.toLowerCase()}`, drawing });
}
