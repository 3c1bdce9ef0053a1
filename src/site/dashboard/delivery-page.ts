import type { FastifyInstance } from 'fastify';
import { COUNTED_AT_MOST, countWaiting, firstQueuedAt } from '../../delivery/count-votes.ts';
import { percentile } from '../../delivery/figures/arrival-times.ts';
import { FIGURE_DAYS } from '../../delivery/figures/delivery-day.ts';
import { type DayOfDeliveries, deliveriesByDay } from '../../delivery/figures/delivery-figures.ts';
import {
  decidedOf,
  failedAttempts,
  forwardedOf,
  successRate,
  totalOf,
} from '../../delivery/figures/delivery-sums.ts';
import { defineMessage, t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { csv } from '../shared/csv.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { deck, deckCard, figureStrip, KNOWN_WITHIN_DAYS, pageHead, rangeLinks } from '../shared/deck.ts';
import {
  arrivalChart,
  arrivalLegend,
  deliveryChart,
  deliveryLegend,
  rateOrDash,
  sourcesChart,
  timeOrDash,
} from '../shared/delivery-charts.ts';
import { count, counted, measured, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { waitingText } from '../shared/listener-state-parts.ts';
import { forReaders, linkTo } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { causesTable } from './failure-causes.ts';
import { HISTORY_FIELDS, listenerHistory } from './listener-history.ts';
import { serverFrame } from './server-frame.ts';

/** The figures of a server are kept for `FIGURE_DAYS`. A shorter range than a day would need the votes themselves. */
const RANGES = [7, 30, 90] as const;
const FILE_DAYS = 90;

/** `/dashboard/servers/<id>/deliveries`: how the votes of a server arrive, by UTC day. */
export function deliveryPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/servers/:serverId/deliveries', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const range = rangeOf(request.query);
    const [{ days: read, countedAt }, listener, waiting, queuedAt] = await Promise.all([
      deliveriesByDay(deps, server._id, Math.min(2 * range, FIGURE_DAYS)),
      deps.listeners.findOne({ serverId: server._id }, { projection: HISTORY_FIELDS }),
      countWaiting(deps.votes, server._id, COUNTED_AT_MOST),
      firstQueuedAt(deps.votes, server._id),
    ]);
    const days = read.slice(-range);
    const path = serverPath(base, server);
    // Half a period before would not be comparable.
    const earlier = read.length === 2 * range ? read.slice(0, range) : [];
    const before = earlier.slice(0, KNOWN_WITHIN_DAYS).some((day) => forwardedOf(day) > 0) ? earlier : null;
    return sendPage(request, reply, {
      title: t('Delivery · {server}', { server: server.name }),
      scripts: ['charts.js'],
      ...serverFrame({
        site: app.site,
        deps,
        server,
        now,
        part: '/deliveries',
        head: head(`${path}/deliveries`, range, countedText(countedAt, now)),
        body: cards(path, { days, before, listener, waiting, queuedAt }, now),
      }),
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

function rangeOf(query: unknown): (typeof RANGES)[number] {
  const { days } = query as { days?: unknown };
  return RANGES.find((range) => String(range) === days) ?? 30;
}

function head(path: string, range: number, counted: Content): Html {
  const to = (days: number) => `${path}?days=${String(days)}`;
  const ranges = RANGES.map((days) => ({ href: to(days), text: t('{span} days', { span: String(days) }) }));
  return pageHead({
    title: t('Delivery'),
    actions: rangeLinks(t('Time shown'), ranges, to(range)),
    text: html`${t('What happened to the votes of this server on their way into the game.')} ${counted}
      ${t('All days are UTC.')}`,
  });
}

function countedText(countedAt: Date | null, now: Date): Content {
  const hourly = t('Votes are counted once an hour.');
  if (!countedAt) return hourly;
  return html`${hourly} ${t('Last count with votes of this server: {time}.', { time: timeAgo(countedAt, now) })}`;
}

type Figures = {
  days: DayOfDeliveries[];
  before: DayOfDeliveries[] | null;
  listener: Listener | null;
  /** Now, whatever the days. */
  waiting: number;
  queuedAt: Date | null;
};

function cards(path: string, figures: Figures, now: Date): Html {
  const { days, listener } = figures;
  const file = (name: FileName, title: string) =>
    html`<a href="${path}/deliveries/${name}" download>${t('Download CSV<span>: {title}</span>', {
      span: forReaders,
      title,
    })}</a>`;
  return deck([
    html`<section class="card flush" aria-label="${t('Figures of {days} days', { days: days.length })}">${keyFigures(
      path,
      figures,
      now,
    )}</section>`,
    deckCard({
      title: t('Votes by outcome'),
      columns: 6,
      beside: deliveryLegend(days),
      body: deliveryChart(days),
      foot: file('deliveries.csv', t('Votes by outcome')),
    }),
    deckCard({
      title: t('Time to delivery'),
      columns: 6,
      beside: arrivalLegend(days),
      body: arrivalChart(days),
      foot: file('deliveries.csv', t('Time to delivery')),
    }),
    deckCard({
      title: t('Failed attempts by cause'),
      columns: 12,
      beside: file('failures.csv', t('Failed attempts by cause')),
      body: causesTable(path, listener, days),
      foot:
        days.some(failedAttempts) &&
        t(
          'By the day of the vote. A vote may have several failed attempts and arrive in the end: <a>the list of votes</a> has the timeline of each.',
          { a: linkTo(`${path}/votes`) },
        ),
    }),
    listenerHistory(listener, days, now),
    deckCard({ title: t('Votes by source'), columns: 6, body: sourcesChart(days) }),
    deckCard({
      title: t('What the figures mean'),
      columns: 6,
      body: html`<p class="small">${t(RATE_TEXT)}</p><p class="small">${t(TIME_TEXT)}</p>`,
    }),
  ]);
}

const RATE_TEXT = defineMessage(
  'The success rate is the share of delivered votes among those that were delivered, failed or stayed unconfirmed. Waiting votes do not count. In Votifier v1, a vote that was sent without an answer counts as delivered.',
);

const TIME_TEXT = defineMessage(
  'From the vote to the acknowledgement of the listener, outages and retries included, for votes that were delivered. Votes that somebody sent again by hand are left out. Each time is exact to 5 %.',
);

function keyFigures(path: string, figures: Figures, now: Date): Html {
  const { days, before, listener, waiting, queuedAt } = figures;
  const total = totalOf(days);
  const earlier = before && totalOf(before);
  const time = (share: number, name: string) => {
    const ago = earlier && percentile(earlier.times, share);
    return {
      value: timeOrDash(percentile(total.times, share)),
      detail: ago === null ? name : t('{name}, before: {time}', { name, time: measured(ago) }),
    };
  };
  const resend = html`<a href="${path}/votes/resend?state=failed&since=${days[0]?.day}">${t('Send again…')}</a>`;
  const unconfirmed = total.unconfirmed > 0 && t('{votes} unconfirmed', { votes: count(total.unconfirmed) });
  const longest = percentile(total.times, 1);
  const slow = time(0.95, 'p95');
  return figureStrip([
    {
      name: t('Success rate'),
      value: rateOrDash(successRate(total)),
      detail: t('{delivered} of {votes} delivered', {
        delivered: count(total.delivered),
        votes: counted(decidedOf(total), 'vote'),
      }),
    },
    { name: t('Half within'), ...time(0.5, 'p50') },
    {
      name: t('95 % within'),
      value: slow.value,
      detail:
        longest === null
          ? slow.detail
          : t('{p95}; longest: {time}', { p95: slow.detail, time: measured(longest) }),
    },
    {
      name: t('Failed'),
      value: count(total.failed),
      detail: html`${unconfirmed || ''} ${listener && total.failed > 0 ? resend : ''}`,
    },
    {
      name: t('Waiting now'),
      value: waitingText(waiting),
      ...(waiting === 0 || !queuedAt
        ? {}
        : { detail: t('the first one was queued {time}', { time: timeAgo(queuedAt, now) }) }),
    },
  ]);
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
