import { t } from '../../language/t.ts';
import { count } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';

const WIDTH = 96;
const HEIGHT = 24;
/** A margin, so that the width of the line is not cut. */
const EDGE = 2;

/** A line chart of players with gaps for unknown days. `players` has one value per day, oldest first. */
export function sparkline(players: (number | null)[]): Html {
  const known = players.filter((value) => value !== null);
  if (known.length === 0)
    return html`<span class="soft">–<span class="for-readers"> ${t('not known yet')}</span></span>`;
  const top = Math.max(...known, 1);
  const step = (WIDTH - 2 * EDGE) / Math.max(players.length - 1, 1);
  const at = (value: number, index: number) =>
    `${round(EDGE + index * step)} ${round(HEIGHT - EDGE - (value / top) * (HEIGHT - 2 * EDGE))}`;
  const foot = (index: number) => `${round(EDGE + index * step)} ${HEIGHT}`;
  let path = '';
  let area = '';
  let isOpen = false;
  for (const [index, value] of players.entries()) {
    // A day between two gaps is drawn as a dot: a short line with round ends.
    if (value !== null) {
      path += isOpen ? ` L${at(value, index)}` : ` M${at(value, index)} h0.01`;
      area += `${isOpen ? '' : ` M${foot(index)}`} L${at(value, index)}`;
    }
    if (isOpen && value === null) area += ` L${foot(index - 1)} Z`;
    isOpen = value !== null;
  }
  if (isOpen) area += ` L${foot(players.length - 1)} Z`;
  const description = players
    .map((value) => (value === null ? t('unknown') : count(Math.round(value))))
    .join(', ');
  const label = t('Players on average, day by day: {numbers}', { numbers: description });
  const size = html`viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  const paths = html`<path class="area" d="${area.trim()}" /><path d="${path.trim()}" />`;
  return html`<svg class="spark" ${size} role="img" aria-label="${label}">${paths}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
