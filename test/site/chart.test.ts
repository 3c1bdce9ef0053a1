import { html } from 'hono/html';
import { expect, it } from 'vitest';
import { barChart, type ChartPoint, lineChart } from '../../src/site/shared/chart.ts';

const chart = (values: (number | null)[]) => ({
  title: 'Votes <b>',
  points: values.map((value, i): ChartPoint => ({ label: `day ${i}`, value })),
  shown: String,
  numbers: html`<table></table>`,
  empty: 'Nothing yet.',
});

it('the scale ends at a round number above the greatest value', () => {
  for (const [greatest, top, half] of [
    [0, 2, 1],
    [1, 2, 1],
    [3, 4, 2],
    [12, 20, 10],
    [61, 80, 40],
    [1_204, 2_000, 1_000],
  ]) {
    const drawn = String(barChart(chart([greatest ?? 0])));
    expect(drawn).toContain(`<span>${top}</span><span>${half}</span><span>0</span>`);
  }
});

it('a line has gaps for unknown values, and a single point is a dot', () => {
  const drawn = String(lineChart(chart([1, 2, null, 2, null])));
  expect(drawn.match(/<path class="line(?: lone)?" d="[^"]+"/g)).toEqual([
    '<path class="line" d="M0 80 L150 0"',
    '<path class="line lone" d="M450 0 h0.01"',
  ]);
  expect(drawn.match(/<rect class="gap" x="[\d.]+" y="0" width="[\d.]+"/g)).toEqual([
    '<rect class="gap" x="150" y="0" width="300"',
    '<rect class="gap" x="450" y="0" width="150"',
  ]);
});

it('a single point is drawn in the middle', () => {
  const drawn = String(lineChart(chart([2])));
  expect(drawn).toContain('<path class="line lone" d="M300 0 h0.01"');
  expect(drawn).toContain('<rect x="0" width="600"><title>day 0: 2</title>');
});

it('an empty chart shows a message; a title is escaped', () => {
  expect(String(lineChart(chart([null, null])))).toContain('Nothing yet.');
  expect(String(lineChart(chart([])))).toContain('Nothing yet.');
  expect(String(barChart(chart([1])))).toContain('aria-label="Votes &lt;b&gt;"');
});

it('the axis labels one point once, two points at both ends, and more also in the middle', () => {
  const named = (values: number[]) =>
    [
      ...(/chart-times[^>]*>(.*?)<\/div>/s.exec(String(lineChart(chart(values))))?.[1] ?? '').matchAll(
        /day \d/g,
      ),
    ].map(([label]) => label);
  expect(named([1])).toEqual(['day 0']);
  expect(named([1, 2])).toEqual(['day 0', 'day 1']);
  expect(named([1, 2, 3])).toEqual(['day 0', 'day 1', 'day 2']);
});
