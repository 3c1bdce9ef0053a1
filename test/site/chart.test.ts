import { html } from 'hono/html';
import { expect, it } from 'vitest';
import { barChart, type ChartPoint, lineChart, shareChart } from '../../src/site/shared/chart.ts';

const chart = (values: (number | null)[]) => ({
  title: 'Votes <b>',
  points: values.map((value, i): ChartPoint => ({ label: `day ${i}`, value })),
  shown: String,
  numbers: html`<table></table>`,
  empty: 'Nothing yet.',
});

/** The attributes of each element in a drawing that match `pattern`. */
const all = (drawn: unknown, pattern: RegExp) =>
  [...String(drawn).matchAll(pattern)].map((found) => found.slice(1));

it('the scale ends at a round number that is not below the greatest value', () => {
  for (const [greatest, labels] of [
    [0, ['2', '1', '0']],
    [1, ['2', '1', '0']],
    [3, ['3', '2', '1', '0']],
    [12, ['15', '10', '5', '0']],
    [61, ['80', '60', '40', '20', '0']],
    [1_204, ['1500', '1000', '500', '0']],
  ] as const) {
    const found = all(barChart(chart([greatest])), /<text x="100%" y="[\d.]+%">(\d+)</g).flat();
    expect(found, String(greatest)).toEqual(labels);
  }
});

it('each label is at its grid line, and a value is drawn where the scale says', () => {
  for (const drawn of [barChart(chart([12, 7])), lineChart({ ...chart([61, 3]), firstOnTop: true })]) {
    const lines = all(drawn, /<line class="grid" x2="100%" y1="([\d.]+%)" y2="([\d.]+%)"/g);
    const labels = all(drawn, /<text x="100%" y="([\d.]+%)">/g).flat();
    expect(lines).toEqual(labels.map((y) => [y, y]));
  }
  // The axis ends at 15, so 12 is a fifth below the top.
  expect(all(barChart(chart([12])), /<rect class="column" [^>]* y="([\d.]+%)" height="([\d.]+%)"/g)).toEqual([
    ['20%', '80%'],
  ]);
  // Ranks from 1 at the top to 80 at the foot.
  const ranks = String(lineChart({ ...chart([1, 80]), firstOnTop: true }));
  expect(ranks).toContain('<path class="line" d="M0 0L100 100" />');
  expect(ranks).toContain('<text x="100%" y="0%">1</text>');
  expect(ranks).not.toContain('class="area"');
});

it('a line has gaps for unknown values, and a single point is a dot', () => {
  const drawn = lineChart(chart([1, 2, null, 2, null]));
  expect(all(drawn, /<path class="(line(?: lone)?)" d="([^"]+)"/g)).toEqual([
    ['line', 'M0 50L25 0'],
    ['line lone', 'M75 0h0.01'],
  ]);
  expect(all(drawn, /<rect class="gap" x="([\d.]+%)" width="([\d.]+%)"/g)).toEqual([
    ['25%', '50%'],
    ['75%', '25%'],
  ]);
});

it('a single point is drawn in the middle', () => {
  expect(String(lineChart(chart([2])))).toContain('<path class="line lone" d="M50 0h0.01"');
});

it('has the text of each point, also of unknown ones, for the script', () => {
  const points: ChartPoint[] = [
    { label: '1 Nov, 10:00', value: 4, at: new Date(3_600_000) },
    { label: '1 Nov, 11:00', value: null, reason: 'offline: <b>', at: new Date(7_200_000) },
  ];
  const drawn = String(lineChart({ ...chart([]), points }));
  expect(drawn).toContain('data-place="line" data-texts="1 Nov, 10:00: 4\n1 Nov, 11:00: offline: &lt;b&gt;"');
  expect(drawn).toContain('data-from="3600000" data-step="3600000"');
  expect(drawn).toContain('max="1"');
  expect(String(barChart(chart([null, 1])))).toContain('data-texts="day 0: unknown\nday 1: 1"');
});

it('a day of uptime is one bar: red from the foot, grey from the top, and a minute is seen', () => {
  const day = (good: number, bad: number) => ({ label: 'day', text: `day: ${good}`, good, bad });
  const { points: _, shown: __, ...rest } = chart([]);
  const days = [day(1, 0), day(0.5, 0.25), day(0.999, 0.001), day(0, 0)];
  const drawn = shareChart({ ...rest, days });
  expect(
    all(drawn, /<rect class="([\w ]+)" x="[\d.]+%" width="15%"( y="[\d.]+%")? height="([\d.]+%)"/g),
  ).toEqual([
    ['share good', undefined, '100%'],
    ['share good', undefined, '100%'],
    ['gap', undefined, '25%'],
    ['share bad', ' y="75%"', '25%'],
    ['share good', undefined, '100%'],
    ['share bad', ' y="96%"', '4%'],
    ['gap', undefined, '100%'],
  ]);
  expect(String(shareChart({ ...rest, days: [day(0, 0)] }))).toContain('Nothing yet.');
});

it('a day without anything to measure draws no bar and no gap, and is read; details follow the value', () => {
  const points = [
    { label: 'a', value: 3 },
    { label: 'b', value: null, reason: 'nothing', isEmpty: true },
    { label: 'c', value: null, reason: 'not counted' },
  ];
  const drawn = barChart({ ...chart([]), points, details: (index) => `, part ${index}` });
  expect(all(drawn, /<rect class="(column|gap)"/g)).toEqual([['column'], ['gap']]);
  expect(all(drawn, /data-texts="([^"]*)"/g)).toEqual([['a: 3, part 0\nb: nothing\nc: not counted']]);
  const empty = { label: 'a', text: 'a: no votes', good: 0, bad: 0, isEmpty: true };
  const days = [empty, { label: 'b', text: 'b: all', good: 1, bad: 0 }];
  const shares = shareChart({ title: 'x', days, numbers: html`<table></table>`, empty: '' });
  expect(all(shares, /<rect class="(share good|share bad|gap)"/g)).toEqual([['share good']]);
});

it('an empty chart shows a message; a title is escaped', () => {
  expect(String(lineChart(chart([null, null])))).toContain('Nothing yet.');
  expect(String(lineChart(chart([])))).toContain('Nothing yet.');
  expect(String(barChart(chart([1])))).toContain('aria-label="Votes &lt;b&gt;"');
});

it('the time axis labels both ends and up to three points between them, each at its place', () => {
  const labels = (values: number[]) =>
    all(lineChart(chart(values)), /<text class="\w*" x="([\d.]+%)"[^>]*>([^<]*)</g);
  expect(labels([1])).toEqual([['50%', 'day 0']]);
  expect(labels([1, 2])).toEqual([
    ['0%', 'day 0'],
    ['100%', 'day 1'],
  ]);
  expect(labels([1, 2, 3, 4, 5])).toEqual([
    ['0%', 'day 0'],
    ['25%', 'day 1'],
    ['50%', 'day 2'],
    ['75%', 'day 3'],
    ['100%', 'day 4'],
  ]);
  const hours = labels(Array.from({ length: 24 }, () => 1)).map(([, label]) => label);
  expect(hours).toEqual(['day 0', 'day 6', 'day 12', 'day 18', 'day 23']);
});

it('the meaning of the colours follows the drawing, and the table comes last', () => {
  const days = [{ label: 'day 0', text: 'day 0: online', good: 1, bad: 0 }];
  const { points: _, shown: __, ...rest } = chart([]);
  const drawn = String(shareChart({ ...rest, days, key: html`<ul class="key"></ul>` }));
  const places = ['class="chart-plot"', '<ul class="key">', '<details class="chart-numbers">'];
  const found = places.map((place) => drawn.indexOf(place));
  expect(Math.min(...found)).toBeGreaterThan(0);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
});

it('a logarithmic axis has times that people say, from 100 ms to a second at least', () => {
  const axis = (values: (number | null)[]) =>
    all(lineChart({ ...chart(values), isLogarithmic: true }), /<text x="100%" y="[\d.]+%">(\d+)</g).flat();
  expect(axis([300])).toEqual(['1000', '100']);
  expect(axis([90, null, 400_000])).toEqual(['600000', '60000', '10000', '1000', '100', '10']);
  expect(axis([0])).toEqual(['1000', '100', '10', '1']);
});
