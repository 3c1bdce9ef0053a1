import type { FastifyInstance } from 'fastify';
import { MINUTE } from '../../platform/clock.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { figuresByDay, type SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { OPERATOR } from '../route-options.ts';
import { csv } from '../shared/csv.ts';
import { deck, deckCard, pageHead, rangeLinks } from '../shared/deck.ts';
import { queryOf } from '../shared/form.ts';
import { count, dayText, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { notice } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import {
  BY_DEFAULT,
  countedDays,
  measuresCard,
  PERIODS,
  type Period,
  type Periods,
  periodsOf,
} from './figure-measures.ts';
import { FIGURES, type Figure } from './figure-rows.ts';
import {
  allFigures,
  failedCausesTable,
  queuesTable,
  serversTable,
  sourcesTable,
  waitingTable,
} from './figure-tables.ts';
import { readTopServers } from './top-servers.ts';

const FILE_DAYS = 731;
/** Figures are counted once an hour: after this time, counting has stopped. */
const LATE_MS = 130 * MINUTE;

export function figuresPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/figures', OPERATOR, async (request, reply) => {
    const { days: wanted } = queryOf(request);
    const period = PERIODS.find(({ days }) => String(days) === wanted) ?? BY_DEFAULT;
    const [days, servers] = await Promise.all([
      figuresByDay(deps, 2 * period.days + 1),
      readTopServers(deps),
    ]);
    const now = deps.clock.now();
    const newest = countedDays(days).at(-1);
    const periods = periodsOf(period, days);
    const cards = newest
      ? html`${lateness(newest, now)}${body({ base, periods, servers, days, newest })}`
      : NONE;
    const head = headOf(
      base,
      periods,
      newest ? html`Counted ${timeAgo(newest.countedAt, now)}, once an hour.` : '',
    );
    const page = adminPage({
      base,
      part: '/figures',
      title: 'Figures',
      scripts: ['charts.js'],
      head,
      body: cards,
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

const NONE = notice(
  'attention',
  'No figures yet. They are counted once an hour while a scheduler and a worker run.',
);

function headOf(base: string, { period, now, before }: Periods, countedAt: Content): Html {
  const href = ({ days }: Period) => adminPath(base, `/figures?days=${days}`);
  const [first, last] = [now[0], now.at(-1)].map((one) => (one ? dayText(new Date(one.day)) : ''));
  return pageHead({
    title: 'Figures',
    actions: rangeLinks(
      'Period',
      PERIODS.map((one) => ({ href: href(one), text: one.text })),
      href(period),
    ),
    text: html`${first} to ${last} (UTC)${before.length > 0 ? `, against the ${period.text} before` : ''}. ${countedAt}
      <a href="${adminPath(base, '/figures.csv')}" download>Download CSV</a>`,
  });
}

type Shown = {
  base: string;
  periods: Periods;
  servers: Awaited<ReturnType<typeof readTopServers>>;
  days: SiteDay[];
  newest: SiteFigures;
};

function body({ base, periods, servers, days, newest }: Shown): Html {
  const { period } = periods;
  const all = html`<a href="${adminPath(base, '/servers')}">All servers</a>`;
  return deck([
    measuresCard(periods),
    deckCard({
      title: 'Servers by votes',
      columns: 6,
      beside: all,
      body: serversTable(base, servers.servers),
      foot: `The first ${servers.servers.length} of ${count(servers.total)} in the ranking; votes of ${RANKING_DAYS} days.`,
    }),
    deckCard({
      title: 'Failed attempts by cause',
      columns: 6,
      body: html`${failedCausesTable(periods)}<h2>Votes by source</h2>${sourcesTable(periods)}`,
    }),
    html`<details class="card more-figures"><summary><h2>All figures and waits</h2></summary>
      ${allFigures(periods, days.slice(-1))}
      <p class="soft small">Deliveries belong to the day of their vote. The success rate is the share of delivered votes
        among those that were delivered, failed or stayed unconfirmed. Times are from a vote to its acknowledgement, for
        votes that were delivered and that nobody sent again by hand, exact to 5 %. ${period.text} end with
        yesterday.</p>
      <div class="columns"><section><h3>Waiting votes by age</h3>${waitingTable(newest)}</section>
        <section><h3>Longest waits of the queues today</h3>${queuesTable(newest)}</section></div></details>`,
  ]);
}

function lateness({ countedAt }: SiteFigures, now: Date): Content {
  if (now.getTime() - countedAt.getTime() < LATE_MS) return '';
  return notice(
    'attention',
    html`The figures were last counted ${timeAgo(countedAt, now)}. Check that the scheduler and a worker with the queue
      <code>count-figures</code> run.`,
  );
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
