import type { FastifyInstance } from 'fastify';
import { noDeliveries, totalOf } from '../../delivery/figures/delivery-sums.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { QUEUES } from '../../platform/queues.ts';
import { figuresByDay, type SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { OPERATOR } from '../route-options.ts';
import { barChart, lineChart } from '../shared/chart.ts';
import { csv } from '../shared/csv.ts';
import { arrivalChart, dayTable, deliveryChart, sourcesChart } from '../shared/delivery-charts.ts';
import { count, decimal, duration, measured, shortDay, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, dataTable, facts, figure as keyFigure, notice } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import { bytes, changeOf, FIGURES, type Figure } from './figure-rows.ts';

const PAGE_DAYS = 28;
const FILE_DAYS = 731;
/** Figures are counted once an hour: after this time, counting has stopped. */
const LATE_MS = 130 * MINUTE;

export function figuresPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/figures', OPERATOR, async (request, reply) => {
    const days = await figuresByDay(deps, PAGE_DAYS);
    const now = deps.clock.now();
    const page = adminPage({
      base,
      part: '/figures',
      title: 'Figures',
      scripts: ['charts.js'],
      body: bodyOf(adminPath(base, '/figures.csv'), days, now),
    });
    return sendPage(request, reply, page);
  });

  app.get('/figures.csv', OPERATOR, async (_request, reply) => {
    const days = await figuresByDay(deps, FILE_DAYS);
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', 'attachment; filename="figures.csv"')
      .type('text/csv; charset=utf-8')
      .send(fileOf(days));
  });
}

function bodyOf(file: string, days: SiteDay[], now: Date): Content {
  const newest = days.flatMap(({ figures }) => figures ?? []).at(-1);
  if (!newest)
    return notice(
      'attention',
      'No figures yet. They are counted once an hour while a scheduler and a worker run.',
    );
  return [
    lateness(newest, now),
    card({
      title: 'The last 7 days',
      actions: html`<a href="${file}" download>Download CSV</a>`,
      body: html`${weekFigures(days)}
        <p class="soft small">Counted ${timeAgo(newest.countedAt, now)}, once an hour. All days are UTC; the 7 days end
        with yesterday.</p>`,
    }),
    figureCharts(days),
    card({ title: 'Deliveries of 7 days by outcome', body: outcomes(week(days, 1)) }),
    html`<div class="columns">
      ${card({ title: 'Waiting votes by age', body: waitingVotes(newest) })}
      ${card({ title: 'Longest waits of the queues', body: queueAges(newest) })}
    </div>`,
    card({
      title: 'Days and weeks',
      body: html`${comparison(days)}
        <p class="soft small">Deliveries belong to the day of their vote. The success rate is the share of delivered
        votes among those that were delivered, failed or stayed unconfirmed. Times are from a vote to its
        acknowledgement, for votes that were delivered and that nobody sent again by hand, exact to 5 %.</p>`,
    }),
  ];
}

function lateness({ countedAt }: SiteFigures, now: Date): Content {
  if (now.getTime() - countedAt.getTime() < LATE_MS) return '';
  return notice(
    'attention',
    html`The figures were last counted ${timeAgo(countedAt, now)}. Check that the scheduler and a worker with the queue
      <code>count-figures</code> run.`,
  );
}

function outcomes(days: SiteFigures[]): Html {
  const { causes } = totalOf(days.map(({ deliveries }) => deliveries));
  const rows = Object.entries(causes).toSorted(([, a], [, b]) => b - a);
  return dataTable({
    caption: 'Failed attempts by outcome',
    rows,
    columns: [
      { title: 'Outcome', heads: true, cell: ([code]) => html`<code>${code}</code>` },
      { title: 'Failed attempts', kind: 'number', cell: ([, attempts]) => count(attempts) },
    ],
    empty: 'No attempt failed.',
  });
}

const AGES: Record<string, string> = {
  under_1m: 'under a minute',
  '1m_to_10m': '1 to 10 minutes',
  '10m_to_1h': '10 minutes to an hour',
  '1h_to_6h': '1 to 6 hours',
  '6h_to_24h': '6 to 24 hours',
  over_24h: 'over 24 hours',
};

function waitingVotes({ waiting }: SiteFigures): Content {
  if (!waiting) return html`<p class="soft">Not measured yet.</p>`;
  return facts(Object.entries(AGES).map(([age, text]) => [text, count(waiting[age] ?? 0)]));
}

function queueAges({ day, queues = {} }: SiteFigures): Html {
  const rows = Object.entries(queues)
    .filter(([, seconds]) => seconds > 0)
    .toSorted(([, a], [, b]) => b - a);
  return html`<p class="soft small">Of all counts on ${day}.</p>
    ${dataTable({
      caption: 'Longest time that work of each queue waited',
      rows,
      columns: [
        { title: 'Queue', heads: true, cell: ([name]) => titleOf(name) },
        { title: 'Waited', kind: 'number', cell: ([, seconds]) => waited(seconds * SECOND) },
      ],
      empty: 'Nothing waited.',
    })}`;
}

const waited = (ms: number) => (ms < MINUTE ? measured(ms) : duration(ms));

function titleOf(name: string): string {
  return Object.hasOwn(QUEUES, name) ? QUEUES[name as keyof typeof QUEUES].title : name;
}

/** One line per UTC day from the first counted day on. Unknown values are empty cells. */
function fileOf(days: SiteDay[]): string {
  const first = days.findIndex(({ figures }) => figures !== null);
  const rows = (first === -1 ? [] : days.slice(first)).map(({ day, figures }) => [
    day,
    ...FIGURES.map((figure) => rounded(figure, figures)),
  ]);
  return csv(['day', ...FIGURES.map(({ column }) => column)], rows);
}

function rounded({ of }: Figure, figures: SiteFigures | null): number | null {
  const value = figures && of([figures]);
  return value === null ? null : Math.round(10_000 * value) / 10_000;
}

function figureCharts(days: SiteDay[]): Html {
  const deliveries = days.map(({ day, figures }) => ({ ...(figures?.deliveries ?? noDeliveries()), day }));
  return html`${card({ title: 'Votes by source', body: sourcesChart(deliveries) })}
    ${card({ title: 'Delivered votes', body: deliveryChart(deliveries) })}
    ${card({ title: 'Time to delivery', body: arrivalChart(deliveries) })}
    <div class="columns">
      ${card({ title: 'Servers', body: lineChart(chartOf(days, 'Servers listed', ({ servers }) => servers.listed)) })}
      ${card({
        title: 'Players',
        body: lineChart(
          chartOf(days, 'Players online on average', ({ players }) => players?.average, decimal),
        ),
      })}
      ${card({ title: 'Sign-ups', body: barChart(chartOf(days, 'Sign-ups', ({ signUps }) => signUps)) })}
      ${card({ title: 'Mails', body: barChart(chartOf(days, 'Mails sent', ({ mails }) => mails?.sent)) })}
      ${card({ title: 'Storage', body: lineChart(chartOf(days, 'Data and indexes on disk', storageOf, bytes)) })}
    </div>`;
}

const whole = (value: number) => count(Math.round(value));

const storageOf = ({ storage }: SiteFigures) => storage && storage.dataBytes + storage.indexBytes;

type Of = (figures: SiteFigures) => number | undefined;
type Row = { day: string; value: number | null };

function chartOf(days: SiteDay[], title: string, of: Of, shown: (value: number) => string = whole) {
  const rows: Row[] = days.map(({ day, figures }) => ({ day, value: (figures && of(figures)) ?? null }));
  return {
    title: `${title} per day, last ${rows.length} days`,
    points: rows.map(({ day, value }) => ({ label: shortDay(new Date(day)), value, reason: 'not counted' })),
    shown,
    empty: 'Not counted yet.',
    numbers: dayTable(title, rows, [
      { title, kind: 'number', cell: ({ value }) => (value === null ? '–' : shown(value)) },
    ]),
  };
}

/** The last of these days is `ago` days before today. Days without figures are left out. */
function range(days: SiteDay[], ago: number, length: number): SiteFigures[] {
  const end = days.length - ago;
  return days.slice(Math.max(0, end - length), end).flatMap(({ figures }) => figures ?? []);
}

/** The 7 whole days before today (`n` is 1), or those before (`n` is 2). */
export function week(days: SiteDay[], n: 1 | 2): SiteFigures[] {
  return range(days, 1 + 7 * (n - 1), 7);
}

const LARGE = ['votes_page', 'votes_api', 'success_rate', 'p95_ms', 'players_average', 'sign_ups'];

function weekFigures(days: SiteDay[]): Html {
  const [now, before] = [week(days, 1), week(days, 2)];
  const large = LARGE.flatMap((wanted) => FIGURES.find(({ column }) => column === wanted) ?? []);
  return html`<div class="figures">
    ${large.map((figure) => {
      const value = figure.of(now);
      const change = changeOf(figure, value, figure.of(before));
      return keyFigure(figure.title, figure.shown(value), change && `${change} to the 7 days before`);
    })}
  </div>`;
}

export function comparison(days: SiteDay[]): Html {
  const today = range(days, 0, 1);
  const [day, dayBefore] = [range(days, 1, 1), range(days, 2, 1)];
  const [last, lastBefore] = [week(days, 1), week(days, 2)];
  const cell = (title: string, of: SiteFigures[], before?: SiteFigures[]) => ({
    title,
    kind: 'number' as const,
    cell: (figure: Figure) => valueWithChange(figure, of, before),
  });
  return dataTable<Figure>({
    caption: 'Figures of yesterday and of the last 7 days against those before',
    rows: FIGURES,
    columns: [
      { title: 'Figure', heads: true, cell: ({ title }) => title },
      cell('Today so far', today),
      cell('Yesterday', day, dayBefore),
      cell('Day before', dayBefore),
      cell('7 days', last, lastBefore),
      cell('7 days before', lastBefore),
    ],
    empty: '',
  });
}

function valueWithChange(figure: Figure, of: SiteFigures[], before?: SiteFigures[]): Content {
  const value = figure.of(of);
  const change = before ? changeOf(figure, value, figure.of(before)) : '';
  const shown = figure.shown(value);
  return change ? html`${shown} <span class="soft small">${change}</span>` : shown;
}
