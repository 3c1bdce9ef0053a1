import { type Html, html } from './html.ts';

const WIDTH = 96;
const HEIGHT = 24;
/** A margin, so that the width of the line is not cut. */
const EDGE = 2;

/** One value a day, oldest first, at least one of them known. Unknown days are gaps. */
export function sparkline(label: string, values: (number | null)[]): Html {
  const top = Math.max(...values.filter((value) => value !== null), 1);
  const step = (WIDTH - 2 * EDGE) / Math.max(values.length - 1, 1);
  const at = (value: number, index: number) =>
    `${round(EDGE + index * step)} ${round(HEIGHT - EDGE - (value / top) * (HEIGHT - 2 * EDGE))}`;
  const foot = (index: number) => `${round(EDGE + index * step)} ${HEIGHT}`;
  let path = '';
  let area = '';
  let isOpen = false;
  for (const [index, value] of values.entries()) {
    // A day between two gaps is drawn as a dot: a short line with round ends.
    if (value !== null) {
      path += isOpen ? ` L${at(value, index)}` : ` M${at(value, index)} h0.01`;
      area += `${isOpen ? '' : ` M${foot(index)}`} L${at(value, index)}`;
    }
    if (isOpen && value === null) area += ` L${foot(index - 1)} Z`;
    isOpen = value !== null;
  }
  if (isOpen) area += ` L${foot(values.length - 1)} Z`;
  const size = html`viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="none"`;
  const paths = html`<path class="area" d="${area.trim()}" /><path d="${path.trim()}" />`;
  return html`<svg class="spark" ${size} role="img" aria-label="${label}">${paths}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
