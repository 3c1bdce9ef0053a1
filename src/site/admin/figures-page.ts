import type { FastifyInstance } from 'fastify';
import { totalOf } from '../../delivery/figures/delivery-sums.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { QUEUES } from '../../platform/queues.ts';
import { figuresByDay, type SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { OPERATOR } from '../route-options.ts';
import { csv } from '../shared/csv.ts';
import { count, duration, measured, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, dataTable, facts, notice } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { figureCharts } from './figure-charts.ts';
import { FIGURES, type Figure } from './figure-rows.ts';
import { comparison, week, weekFigures } from './figures-comparison.ts';

/** The number of days in the charts (four weeks) and in the CSV file (two years). */
const PAGE_DAYS = 28;
const FILE_DAYS = 731;
/** If the last count is older than this, the page warns that counting has stopped. Figures are counted once an hour. */
const LATE_MS = 130 * MINUTE;

/** `/operator/figures`: the figures of the site by UTC day, and comparisons with the day and the week before. */
export function figuresPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/figures', OPERATOR, async (request, reply) => {
    const days = await figuresByDay(deps, PAGE_DAYS);
    const now = deps.clock.now();
    return sendPage(request, reply, {
      title: 'Figures',
      scripts: ['charts.js'],
      ...adminFrame({ base, part: '/figures', body: bodyOf(adminPath(base, '/figures.csv'), days, now) }),
    });
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

/** The CSV file, with one line per UTC day from the first counted day on. Unknown values are empty cells. */
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
