import type { FastifyInstance } from 'fastify';
import { percentile } from '../../delivery/figures/arrival-times.ts';
import { type DayOfDeliveries, deliveriesByDay } from '../../delivery/figures/delivery-figures.ts';
import { forwardedOf, successRate, totalOf } from '../../delivery/figures/delivery-sums.ts';
import { defineMessage, t } from '../../language/t.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { csv } from '../shared/csv.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import {
  arrivalChart,
  deliveryChart,
  failuresChart,
  numberColumn,
  shareOrDash,
  sourcesChart,
  timeOrDash,
} from '../shared/delivery-charts.ts';
import { count, dayText, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, dataTable, figure, forReaders, linkTo } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const PAGE_DAYS = 30;
const FILE_DAYS = 90;

/** `/dashboard/servers/<id>/deliveries`: how the votes of a server arrive, by UTC day. */
export function deliveryPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/servers/:serverId/deliveries', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const { days, countedAt } = await deliveriesByDay(deps, server._id, PAGE_DAYS);
    const path = serverPath(base, server, '/deliveries');
    const body = html`<p class="soft small">${countedText(countedAt, now)} ${t('All days are UTC.')}</p>
      ${cards(path, serverPath(base, server, '/votes'), days)}`;
    return sendPage(request, reply, {
      title: t('Delivery · {server}', { server: server.name }),
      scripts: ['charts.js'],
      ...serverFrame({ site: app.site, server, now, part: '/deliveries', body }),
    });
  });

  app.get('/servers/:serverId/deliveries/:table', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { table = '' } = request.params as { table?: string };
    if (!Object.hasOwn(FILES, table)) throw new PageError(404, t('This file does not exist.'));
    const { days } = await deliveriesByDay(deps, server._id, FILE_DAYS);
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${server.slug}-${table}"`)
      .type('text/csv; charset=utf-8')
      .send(FILES[table as FileName](days));
  });
}

function countedText(countedAt: Date | null, now: Date) {
  const hourly = t('Votes are counted once an hour.');
  if (!countedAt) return hourly;
  return html`${hourly} ${t('Last count with votes of this server: {time}.', { time: timeAgo(countedAt, now) })}`;
}

function cards(path: string, votesPath: string, days: DayOfDeliveries[]): Html {
  const file = (name: FileName, title: string) =>
    html`<a href="${path}/${name}" download>${t('Download CSV<span>: {title}</span>', {
      span: forReaders,
      title,
    })}</a>`;
  const byDay = t(
    'By the day of the vote. A vote may have several failed attempts and arrive in the end: <a>the list of votes</a> has the timeline of each.',
    { a: linkTo(votesPath) },
  );
  return html`<section class="card">${keyFigures(days)}</section>
    ${card({
      title: t('Delivered votes'),
      actions: file('deliveries.csv', t('Delivered votes')),
      body: html`${deliveryChart(days)}<p class="soft small">${t(RATE_TEXT)}</p>`,
    })}
    ${card({
      title: t('Time to delivery'),
      body: html`${arrivalChart(days)}<p class="soft small">${t(TIME_TEXT)}</p>`,
    })}
    ${card({
      title: t('Failed attempts by cause'),
      actions: file('failures.csv', t('Failed attempts by cause')),
      body: html`${failuresChart(days, t('No attempt failed in the last {days} days.', { days: days.length }))}
        ${causesTable(days)}
        <p class="soft small">${byDay}</p>`,
    })}
    ${card({ title: t('Votes by source'), body: sourcesChart(days) })}`;
}

const RATE_TEXT = defineMessage(
  'The success rate is the share of delivered votes among those that were delivered, failed or stayed unconfirmed. Waiting votes do not count. In Votifier v1, a vote that was sent without an answer counts as delivered.',
);

const TIME_TEXT = defineMessage(
  'From the vote to the acknowledgement of the listener, outages and retries included, for votes that were delivered. Votes that somebody sent again by hand are left out. Each time is exact to 5 %.',
);

function keyFigures(days: DayOfDeliveries[]): Html {
  const total = totalOf(days);
  const votes = forwardedOf(total);
  return html`<div class="figures">
    ${figure(
      t('Success rate'),
      shareOrDash(successRate(total)),
      t('{days} days, {votes, plural, one {# vote forwarded} other {# votes forwarded}}', {
        days: days.length,
        votes,
      }),
    )}
    ${figure(t('Half arrive within'), timeOrDash(percentile(total.times, 0.5)), 'p50')}
    ${figure(t('95 % arrive within'), timeOrDash(percentile(total.times, 0.95)), 'p95')}
    ${figure(t('Failed'), count(total.failed), t('{votes} unconfirmed', { votes: count(total.unconfirmed) }))}
    ${figure(t('Waiting'), count(total.waiting))}
  </div>`;
}

function causesTable(days: DayOfDeliveries[]): Content {
  const causes = Object.entries(totalOf(days).causes) as [OutcomeCode, number][];
  if (causes.length === 0) return '';
  const lastDayOf = (code: OutcomeCode) => days.findLast(({ causes }) => causes[code])?.day ?? '';
  return dataTable({
    caption: t('Failed attempts by cause'),
    rows: causes.toSorted(([, a], [, b]) => b - a),
    columns: [
      {
        title: t('Cause'),
        heads: true,
        cell: ([code]) => html`${t(outcomeOf(code).text.cause)} <code class="small">${code}</code>`,
      },
      numberColumn<[OutcomeCode, number]>(t('Failed attempts'), ([, attempts]) => attempts),
      { title: t('Last'), cell: ([code]) => dayText(new Date(lastDayOf(code))) },
    ],
    empty: '',
  });
}

const COLUMNS = {
  votes_page: ({ page }) => page,
  votes_api: ({ api }) => api,
  votes_excluded: ({ excluded }) => excluded,
  not_forwarded: ({ notForwarded }) => notForwarded,
  waiting: ({ waiting }) => waiting,
  delivered: ({ delivered }) => delivered,
  unconfirmed: ({ unconfirmed }) => unconfirmed,
  failed: ({ failed }) => failed,
  p50_ms: ({ times }) => percentile(times, 0.5),
  p95_ms: ({ times }) => percentile(times, 0.95),
} satisfies Record<string, (day: DayOfDeliveries) => number | null>;

/** The CSV files by name. Each line is a UTC day, or a cause of failures on a day. Unknown values are empty cells. */
const FILES = {
  'deliveries.csv': (days: DayOfDeliveries[]) =>
    csv(
      ['day', ...Object.keys(COLUMNS)],
      days.map((day) => [day.day, ...Object.values(COLUMNS).map((of) => of(day))]),
    ),
  'failures.csv': (days: DayOfDeliveries[]) =>
    csv(
      ['day', 'cause', 'failed_attempts'],
      days.flatMap(({ day, causes }) =>
        Object.entries(causes).map(([code, attempts]) => [day, code, attempts]),
      ),
    ),
};
type FileName = keyof typeof FILES;
