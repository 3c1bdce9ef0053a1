import type { ServerInfo } from '../../history/server-info.ts';
import { t } from '../../language/t.ts';
import type { DrawnPictures } from '../../platform/pictures/picture-tasks.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { count, unit } from '../shared/format.ts';
import { hueOf, iconDrawing, initials } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { SHARE_IMAGE } from '../shared/server-paths.ts';
import { serverAddress } from '../shared/server-status.ts';
import { CARD_COLOURS, generatedColours } from './card-colours.ts';
import { drawable, face, MONO, WIDER } from './drawn-text.ts';
import { fitted, imageText, svgImage, textWidth } from './svg-text.ts';

/** In pixels. */
export const CARD_BANNER = { width: SHARE_IMAGE.width, height: 300 } as const;
export const CARD_ICON = { width: 168, height: 168 } as const;

const LEFT = 64;
const RIGHT = SHARE_IMAGE.width - LEFT;
const ICON_TOP = 222;
const BESIDE = LEFT + CARD_ICON.width + 36;
/** In pixels: the largest that fits is taken. */
const NAME_SIZES = [68, 54];
const SMALLEST_NAME = 44;

/** In pixels. */
const LOGO_HEIGHT = 36;

export type Card = {
  info: ServerInfo;
  game?: string | null | undefined;
  /** The name of the listing. */
  site: string;
  logo?: { png: Buffer; width: number; height: number } | undefined;
  /** If one is missing, a generated picture is drawn. */
  pictures?: DrawnPictures;
};

/** An SVG that a worker converts to PNG. The picture process replaces `picture:banner` and `picture:icon`. */
export function shareDrawing({ info, game, site, logo, pictures = {} }: Card): string {
  const { width, height } = SHARE_IMAGE;
  const address = imageText(serverAddress(info));
  const name = drawable(info.name, address);
  const own = html`<image width="${CARD_BANNER.width}" height="${CARD_BANNER.height}" href="picture:banner"/>`;
  const drawing = html`<rect width="${width}" height="${height}" fill="${CARD_COLOURS.deep}"/>
${pictures.banner ? own : plainBanner(info.name, game)}
${icon(info.name, pictures)}
${heading(name, address)}
${figures(info)}
${footer(site, logo)}`;
  const label = `${name}: ${playersText(info)}, ${t('rank {rank}', { rank: count(info.rankPosition) })}`;
  return String(svgImage({ width, height, label, drawing }));
}

/** Squares in the colours of the server's page, and the server's initials. */
function plainBanner(name: string, game: string | null | undefined): Html {
  const { width, height } = CARD_BANNER;
  const { ground, pattern, figure } = generatedColours(hueOf({ name, game }));
  const letters = drawable(initials(name), '');
  return html`<defs><pattern id="squares" width="60" height="60" patternUnits="userSpaceOnUse">
<rect width="60" height="60" fill="${ground}"/><path d="M0 0h30v30h-30zM30 30h30v30h-30z" fill="${pattern}"/>
</pattern></defs><rect width="${width}" height="${height}" fill="url(#squares)"/>
<text x="${width / 2}" y="200" font-size="150" ${face(letters)} fill="${figure}"
  text-anchor="middle">${letters}</text>`;
}

/** Across the lower edge of the banner, in a frame of the card's colour. */
function icon(name: string, pictures: DrawnPictures): Html {
  const { width: side } = CARD_ICON;
  const ring = html`<rect x="${LEFT - 10}" y="${ICON_TOP - 10}" width="${side + 20}" height="${side + 20}"
  rx="34" fill="${CARD_COLOURS.deep}"/>
<clipPath id="icon"><rect x="${LEFT}" y="${ICON_TOP}" width="${side}" height="${side}" rx="26"/></clipPath>`;
  if (pictures.icon)
    return html`${ring}<image x="${LEFT}" y="${ICON_TOP}" width="${side}" height="${side}" clip-path="url(#icon)"
  href="picture:icon"/>`;
  const { shapes, side: squares, hue } = iconDrawing(name);
  const { ground, figure, marks } = generatedColours(hue);
  return html`${ring}<g clip-path="url(#icon)"><rect x="${LEFT}" y="${ICON_TOP}" width="${side}" height="${side}"
  fill="${ground}"/><g fill="none" transform="translate(${LEFT + 18} ${ICON_TOP + 18})
  scale(${(side - 36) / squares}) translate(0 .5)">${shapes.map(
    (path, index) => html`<path d="${path}" stroke="${index === 0 ? figure : marks}"/>`,
  )}</g></g>`;
}

function heading(name: string, address: string): Html {
  const room = RIGHT - BESIDE;
  const line = (text: string, size: number) => fitted(text, size * WIDER, room);
  const size = NAME_SIZES.find((one) => textWidth(name, one * WIDER) <= room) ?? SMALLEST_NAME;
  const below = name === address ? '' : line(address, 30);
  return html`<text x="${BESIDE}" y="368" font-size="${size}" ${face(name)}
  fill="${CARD_COLOURS.text}">${line(name, size)}</text>
<text x="${BESIDE}" y="418" font-size="30" ${MONO} fill="${CARD_COLOURS.soft}">${below}</text>`;
}

function figures(info: ServerInfo): Html {
  const { rankPosition, votesCount } = info;
  const [players, words] = playersFigure(info);
  const medal = votesCount > 0 && CARD_COLOURS.medals[rankPosition - 1];
  return html`${figureAt(LEFT, players, words, info.status === 'offline' ? CARD_COLOURS.bad : undefined)}
${figureAt(540, medal ? medalOf(rankPosition, medal) : count(rankPosition), t('rank'))}
${figureAt(800, count(votesCount), votesOf(votesCount))}`;
}

/** The text after the number. */
function votesOf(votes: number): string {
  return t('{votes} in {days} days', { votes: unit(votes, 'vote'), days: RANKING_DAYS });
}

/** The number of players and the text after it; if the number is not known, the status. */
function playersFigure(info: ServerInfo): [value: string, words: string] {
  const { status, listingPause, playersHidden, onlinePlayers } = info;
  if (listingPause) return [t('Paused'), t('by the owner')];
  if (status !== 'online') return [status === 'offline' ? t('Offline') : t('Unknown'), t('status')];
  if (playersHidden) return [t('Online'), t('players hidden')];
  const number = count(onlinePlayers);
  return [number, playersText(info).replace(number, '').trim()];
}

/** Between two figures, in pixels. */
const FIGURE_ROOM = 340;

function figureAt(x: number, value: Content, words: string, fill: string = CARD_COLOURS.text): Html {
  const text = typeof value === 'string' ? fitted(value, 56 * WIDER, FIGURE_ROOM) : '';
  const shown =
    typeof value === 'string'
      ? html`<text x="${x}" y="500" font-size="56" ${face(value)} fill="${fill}">${text}</text>`
      : html`<g transform="translate(${x} 450)">${value}</g>`;
  const below = fitted(words, 28 * WIDER, x === LEFT ? 540 - LEFT - 20 : FIGURE_ROOM);
  return html`${shown}<text x="${x}" y="540" font-size="28" fill="${CARD_COLOURS.soft}">${below}</text>`;
}

/** Ranks 1 to 3: tally strokes on a disc. */
function medalOf(rank: number, fill: string): Html {
  const xs = { 1: [28], 2: [22, 34], 3: [18, 28, 38] }[rank] ?? [];
  return html`<circle cx="28" cy="28" r="28" fill="${fill}"/>${xs.map(
    (x) =>
      html`<path d="M${x} 16v24" stroke="${CARD_COLOURS.onMedal}" stroke-width="5" stroke-linecap="round"/>`,
  )}`;
}

function footer(site: string, logo: Card['logo']): Html {
  const logoWidth = logo ? Math.round((logo.width / logo.height) * LOGO_HEIGHT) : 0;
  const beside = logo ? LEFT + logoWidth + 16 : LEFT;
  const name = fitted(drawable(site, t('Game servers')), 28 * WIDER, RIGHT - beside);
  return html`<path d="M${LEFT} 568h${RIGHT - LEFT}" stroke="${CARD_COLOURS.line}" stroke-width="2"/>
${
  logo
    ? html`<image x="${LEFT}" y="581" width="${logoWidth}" height="${LOGO_HEIGHT}"
  href="data:image/png;base64,${logo.png.toString('base64')}"/>`
    : ''
}<text x="${beside}" y="609" font-size="28" ${face(name)} fill="${CARD_COLOURS.soft}">${name}</text>`;
}
