import type { FastifyInstance } from 'fastify';
import { percentile } from '../../delivery/figures/arrival-times.ts';
import { type DayOfDeliveries, deliveriesByDay } from '../../delivery/figures/delivery-figures.ts';
import { forwardedOf, successRate, totalOf } from '../../delivery/figures/delivery-sums.ts';
import { defineMessage, t } from '../../language/t.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import {
  arrivalChart,
  deliveryChart,
  failuresChart,
  shareOrDash,
  sourcesChart,
  timeOrDash,
} from '../shared/delivery-charts.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, figure, linkTo } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { causesTable } from './delivery-causes.ts';
import { DELIVERY_TABLES, isDeliveryTable } from './delivery-tables.ts';
import { serverFrame } from './server-frame.ts';

/** The days on the page; the CSV files have up to `FILE_DAYS`. */
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
    if (!isDeliveryTable(table)) throw new PageError(404, t('This file does not exist.'));
    const { days } = await deliveriesByDay(deps, server._id, FILE_DAYS);
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${server.slug}-${table}"`)
      .type('text/csv; charset=utf-8')
      .send(DELIVERY_TABLES[table](days));
  });
}

function countedText(countedAt: Date | null, now: Date) {
  const hourly = t('Votes are counted once an hour.');
  if (!countedAt) return hourly;
  return html`${hourly} ${t('Last count with votes of this server: {time}.', { time: timeAgo(countedAt, now) })}`;
}

function cards(path: string, votesPath: string, days: DayOfDeliveries[]): Html {
  const file = (name: keyof typeof DELIVERY_TABLES, title: string) =>
    html`<a href="${path}/${name}" download>${t('Download CSV<span>: {title}</span>', {
      span: (text) => html`<span class="for-readers">${text}</span>`,
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

/** The figures of all days together. */
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
