import { t } from '../../language/t.ts';
import { type ChartAxis, chartAxis, placeOf, round, shareAxis, timeAxis } from './chart-axis.ts';
import { emptyLine } from './empty-card.ts';
import { type Content, type Html, html, raw } from './html.ts';

/**
 * If `value` is null, a gap is drawn and `reason` says why. `at` is shown in the visitor's time zone. `isEmpty`:
 * nothing to measure, so no gap is drawn.
 */
export type ChartPoint = {
  label: string;
  value: number | null;
  reason?: string;
  at?: Date;
  isEmpty?: boolean;
};

type Chart = {
  title: string;
  points: ChartPoint[];
  shown: (value: number) => string;
  /** The period before, at the same places: a line that is stepped over bars and dotted beside a line. */
  before?: (number | null)[];
  details?: (index: number) => string;
  /** Of each point, in place of `shown` and `details`. */
  texts?: string[];
  key?: Content;
  numbers: Html;
  empty: Content;
};

type ShareDay = { label: string; text: string; good: number; bad: number; isEmpty?: boolean };

/** `bad`: what failed, on top of each bar. With `before`, the bars of past days are paler than today's. */
export function barChart(chart: Chart & { bad?: number[] }): Html {
  const { points, bad = [], before = [] } = chart;
  const axis = chartAxis([...points.map(({ value }, index) => (value ?? 0) + (bad[index] ?? 0)), ...before]);
  const step = 100 / Math.max(points.length, 1);
  const bars = points.map(({ value, isEmpty }, index) => {
    if (isEmpty) return '';
    const side = `x="${percent(index * step + step * 0.14)}" width="${percent(step * 0.72)}"`;
    if (value === null) return rect('gap', side, 0, 100);
    const [top, badTop] = [placeOf(axis, value), placeOf(axis, value + (bad[index] ?? 0))];
    const name = before.length > 0 && index < points.length - 1 ? 'column past' : 'column';
    return [
      value === 0 ? '' : rect(name, side, top, 100 - top),
      badTop < top ? rect('column bad', side, badTop, top - badTop) : '',
    ];
  });
  const stairs = knownRuns(before).map((run) => {
    const stair = ({ index, value }: Known) =>
      `${round(index * step)} ${placeOf(axis, value)}H${round((index + 1) * step)}`;
    return html`<path class="before step" d="M${run.map(stair).join('L')}" />`;
  });
  const drawing = html`${bars}${stretched(stairs)}`;
  return figureOf(chart, { axis, drawing, texts: textsOf(chart), place: 'column' });
}

type LineChart = Chart & {
  firstOnTop?: boolean;
  second?: (number | null)[];
  isLogarithmic?: boolean;
  isShare?: boolean;
};

/**
 * Unknown values are gaps. `firstOnTop`: 1 is at the top, for ranks. `isLogarithmic`: for times, of which one long outage
 * must not flatten all others. `isShare`: from 0 to 1; the scale begins just below the least share.
 */
export function lineChart(chart: LineChart): Html {
  const { points, firstOnTop = false, before = [], second = [], isLogarithmic, isShare } = chart;
  const values = points.map(({ value }) => value);
  const all = [...values, ...before, ...second];
  const axis = isShare ? shareAxis(all) : isLogarithmic ? timeAxis(all) : chartAxis(all, firstOnTop);
  const x = (index: number) => round(middleOf('line', index, points.length));
  const at = ({ index, value }: Known) => `${x(index)} ${placeOf(axis, value)}`;
  const linesOf = (name: string, of: (number | null)[]) =>
    knownRuns(of).map((run) => {
      const kind = run.length === 1 ? `${name} lone` : name;
      return html`<path class="${kind}" d="M${run.map(at).join('L')}h0.01" />`;
    });
  const hasArea = axis.foot === 0;
  const runs = knownRuns(values).map((run) => {
    const [first] = run;
    const last = run.at(-1);
    if (!first || !last) return '';
    const line = run.map(at).join('L');
    // A point between two gaps: the round ends of a line without length draw a dot.
    if (run.length === 1) return html`<path class="line lone" d="M${line}h0.01" />`;
    const area = `M${x(first.index)} 100L${line}L${x(last.index)} 100z`;
    return html`${hasArea ? html`<path class="area" d="${area}" />` : ''}<path class="line" d="M${line}" />`;
  });
  const drawing = html`${gaps(points)}${stretched([runs, linesOf('before', before), linesOf('second', second)])}`;
  return figureOf(chart, { axis, drawing, texts: textsOf(chart), place: 'line' });
}

function textsOf({ points, shown, details = () => '', texts }: Chart): string[] {
  const textOf = ({ label, value, reason = t('unknown') }: ChartPoint, index: number) =>
    value === null ? `${label}: ${reason}` : `${label}: ${shown(value)}${details(index)}`;
  return texts ?? points.map(textOf);
}

/** Paths in percent of the plot, whose lines keep their width. */
function stretched(paths: Content): Content {
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none">${paths}</svg>`;
}

type Known = { index: number; value: number };

function knownRuns(values: (number | null)[]): Known[][] {
  const runs: Known[][] = [];
  let previous = -2;
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    if (previous !== index - 1) runs.push([]);
    runs.at(-1)?.push({ index, value });
    previous = index;
  }
  return runs;
}

const isGap = (point?: ChartPoint) => point?.value === null && !point.isEmpty;

function gaps(points: ChartPoint[]): Content[] {
  const step = 100 / Math.max(points.length - 1, 1);
  const drawn: Content[] = [];
  for (let begin = 0; begin < points.length; begin += 1) {
    if (!isGap(points[begin])) continue;
    let end = begin;
    while (isGap(points[end + 1])) end += 1;
    const from = Math.max(begin - 1, 0);
    const width = (Math.min(end + 1, points.length - 1) - from) * step;
    drawn.push(rect('gap', `x="${percent(from * step)}" width="${percent(width)}"`, 0, 100));
    begin = end;
  }
  return drawn;
}

/** In percent: some 2 pixels, so that a minute offline is visible and one failed attempt does not look like many. */
const LEAST_SHARE = 4;

/** One slim bar per day: bad at the bottom, then good, unknown at the top. */
export function shareChart(chart: Omit<Chart, 'points' | 'shown' | 'texts'> & { days: ShareDay[] }): Html {
  const { days } = chart;
  const step = 100 / Math.max(days.length, 1);
  const height = (share: number) => (share < 0.000_5 ? 0 : Math.max(share * 100, LEAST_SHARE));
  const bars = days.map(({ good, bad, isEmpty }, index) => {
    if (isEmpty) return '';
    const side = `x="${percent(index * step + step * 0.2)}" width="${percent(step * 0.6)}"`;
    if (good + bad === 0) return rect('gap', side, 0, 100);
    const [grey, red] = [height(1 - good - bad), height(bad)];
    return [
      rect('share good', side, 0, 100),
      grey > 0 ? rect('gap', side, 0, grey) : '',
      red > 0 ? rect('share bad', side, 100 - red, red) : '',
    ];
  });
  const hasNone = days.every(({ good, bad }) => good + bad === 0);
  const points = hasNone ? [] : days.map(({ label }) => ({ label, value: 1 }));
  const texts = days.map(({ text }) => text);
  return figureOf({ ...chart, points, shown: String }, { drawing: html`${bars}`, texts, place: 'column' });
}

function rect(name: string, side: string, y: number, height: number): Html {
  const top = y === 0 ? '' : ` y="${percent(y)}"`;
  return html`<rect class="${name}" ${raw(`${side}${top} height="${percent(height)}"`)} />`;
}

type Drawn = {
  axis?: ChartAxis;
  drawing: Html;
  texts: string[];
  /** `line`: from edge to edge. `column`: each point has a column of its own. */
  place: 'line' | 'column';
};

function figureOf(
  { title, points, shown, key = '', numbers, empty }: Chart,
  { axis, drawing, texts, place }: Drawn,
) {
  if (points.every(({ value }) => value === null)) return emptyLine(empty);
  const ticks = axis
    ? axis.ticks.map((value) => ({ y: percent(placeOf(axis, value)), text: shown(value) }))
    : [];
  const widest = ticks.map(({ text }) => text).toSorted((a, b) => b.length - a.length)[0];
  const scale = axis
    ? html`<div class="chart-scale" aria-hidden="true"><span>${widest}</span><svg>${ticks.map(
        ({ y, text }) => html`<text x="100%" y="${y}">${text}</text>`,
      )}</svg></div>`
    : '';
  return html`<figure class="chart-figure${axis ? '' : ' shares'}">
    ${scale}
    <div class="chart-plot" data-place="${place}" data-texts="${texts.join('\n')}"${timesOf(points)}>
      <svg class="chart" role="img" aria-label="${title}">
        ${ticks.map(({ y }) => html`<line class="grid" x2="100%" y1="${y}" y2="${y}" />`)}
        ${drawing}
        <rect class="read" height="100%" />
      </svg>
      <input type="range" class="chart-reader" hidden autocomplete="off" min="0" max="${String(texts.length - 1)}"
        aria-label="${t('Values: {title}', { title })}" />
      <p class="chart-value" aria-hidden="true">${t('Touch the chart to read its values.')}</p>
    </div>
    ${timeLabels(points, place)}
    ${key}
    <details class="chart-numbers"><summary>${t('Show as a table')}</summary>${numbers}</details>
  </figure>`;
}

function timesOf([first, second]: ChartPoint[]): Content {
  if (!first?.at) return '';
  const from = first.at.getTime();
  return html` data-from="${String(from)}" data-step="${String((second?.at?.getTime() ?? from) - from)}"`;
}

const percent = (value: number) => `${round(value)}%`;

function middleOf(place: 'line' | 'column', index: number, points: number): number {
  if (place === 'line') return points === 1 ? 50 : (100 * index) / (points - 1);
  return (100 * (index + 0.5)) / points;
}

function timeLabels(points: { label: string; at?: Date }[], place: 'line' | 'column'): Html {
  const last = points.length - 1;
  // Quarters of a day or a year are whole hours or weeks: 0, 6, 12 and 18, and the last.
  const steps = points.length % 4 === 0 ? points.length : last;
  const indexes = [...new Set([...[0, 0.25, 0.5, 0.75].map((part) => Math.round(part * steps)), last])];
  const labels = indexes.map((index) => {
    const x = `${round(middleOf(place, index, points.length))}%`;
    const { label = '', at } = points[index] ?? {};
    const isEnd = last > 0 && (index === 0 || index === last);
    const name = isEnd ? (index === 0 ? 'first' : 'last') : index === Math.round(last / 2) ? '' : 'between';
    const time = at ? html` data-time="${String(at.getTime())}"` : '';
    return html`<line x1="${x}" x2="${x}" y2="5" /><text class="${name}" x="${x}" y="1.35em"${time}>${label}</text>`;
  });
  return html`<svg class="chart-times" aria-hidden="true">${labels}</svg>`;
}

const SIGNS = {
  column: '<rect class="column" x="3" width="12" height="10" rx="2"/>',
  past: '<rect class="column past" x="3" width="12" height="10" rx="2"/>',
  bad: '<rect class="column bad" x="3" width="12" height="10" rx="2"/>',
  line: '<path class="line" d="M0 5H18"/>',
  before: '<path class="before" d="M0 5H18"/>',
  step: '<path class="before step" d="M0 8H6V3H12V6H18"/>',
  second: '<path class="second" d="M0 5H18"/>',
};

/** The legend of a chart, for the head of its card. */
export function legend(entries: [sign: keyof typeof SIGNS, text: string][]): Html {
  return html`<ul class="legend">${entries.map(
    ([sign, text]) =>
      html`<li><svg class="chart" viewBox="0 0 18 10" aria-hidden="true">${raw(SIGNS[sign])}</svg>${text}</li>`,
  )}</ul>`;
}
