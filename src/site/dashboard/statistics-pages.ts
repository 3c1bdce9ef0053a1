import type { FastifyInstance } from 'fastify';
import type { ObjectId } from 'mongodb';
import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import { type History, type HistoryPoint, historyAndReports } from '../../history/history.ts';
import { uptimeDays } from '../../history/uptime-days.ts';
import { t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { twoDecimals } from '../../platform/two-decimals.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type RankDay, rankVotesByDay } from '../../ranking/evidence/rank-votes.ts';
import { MOST_LISTED_VOTERS, type TopVoter, topVotersOfMonth } from '../../votes/top-voters.ts';
import { monthOf } from '../../votes/vote-counts.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { csv } from '../shared/csv.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { deck, deckCard, pageHead, rangeLinks } from '../shared/deck.ts';
import { count, timeAgo } from '../shared/format.ts';
import { latencyChart, playersChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { dataTable, forReaders, linkTo } from '../shared/parts.ts';
import { rankVotesTables } from '../shared/rank-votes-tables.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

/** The ranges of the charts, in days. */
const SPANS = [30, 90] as const;
/** How many players the page has at most; the file `voters.csv` has the whole list. */
const TOP_VOTERS = 25;

/** `/dashboard/servers/<id>/statistics`: charts with their numbers as tables and CSV files. */
export function statisticsPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/servers/:serverId/statistics', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const days = spanOf(request.query);
    const path = serverPath(base, server, '/statistics');
    const [votes, { history, reported }, uptime, voters, rankDays] = await Promise.all([
      votesByDay(deps, server._id, days),
      historyAndReports(deps, server._id, days === 30 ? '30d' : 'all'),
      uptimeDays(deps, server._id),
      topVotersOfMonth(deps, server._id, monthOf(now), TOP_VOTERS),
      rankVotesByDay(deps, server._id, dayOf(now)),
    ]);
    const recent = { ...history, points: since(history.points, now, days) };
    const reports = reported && {
      ...reported,
      points: withoutEmptyEnds(since(reported.points, now, days)),
    };
    const players = playersChart(t('Players in {days} days', { days }), recent, now);
    const latency = latencyChart(t('Latency in {days} days', { days }), recent, now);
    const body = deck([
      part(t('Votes'), 12, `${path}/votes.csv?days=${days}`, votesChart(votes)),
      part(t('Players'), 6, `${path}/players.csv?days=${days}`, players),
      part(t('Latency'), 6, `${path}/latency.csv?days=${days}`, latency),
      part(
        t('Uptime in the last {days} days', { days: UPTIME_DAYS }),
        6,
        `${path}/uptime.csv`,
        uptimeChart(uptime),
      ),
      rankPart(base, rankDays),
      reports && reports.points.length > 0 ? reportedPart(path, reports, now, days) : '',
      part(t('Top voters this month'), 12, `${path}/voters.csv`, voterTable(voters, now)),
    ]);
    const ranges = SPANS.map((span) => ({
      href: `${path}?days=${String(span)}`,
      text: t('{span} days', { span: String(span) }),
    }));
    const head = pageHead({
      title: t('Statistics'),
      actions: rangeLinks(t('Time shown'), ranges, `${path}?days=${String(days)}`),
      text: t('All days are UTC.'),
    });
    return sendPage(request, reply, {
      title: `${t('Statistics')} · ${server.name}`,
      scripts: ['charts.js'],
      ...serverFrame({ site: app.site, deps, server, now, part: '/statistics', head, body }),
    });
  });

  app.get('/servers/:serverId/statistics/:table', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { table = '' } = request.params as { table?: string };
    const file = Object.hasOwn(FILES, table) && FILES[table];
    if (!file) throw new PageError(404, t('This file does not exist.'));
    const text = await file(deps, server._id, spanOf(request.query));
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${server.slug}-${table}"`)
      .type('text/csv; charset=utf-8')
      .send(text);
  });
}

function spanOf(query: unknown): (typeof SPANS)[number] {
  return (query as { days?: unknown }).days === '90' ? 90 : 30;
}

function part(title: string, columns: 6 | 12, href: string, body: Content): Html {
  const download = t('Download CSV<span>: {title}</span>', { span: forReaders, title });
  return deckCard({ title, columns, beside: html`<a href="${href}" download>${download}</a>`, body });
}

function rankPart(base: string, days: RankDay[]): Html {
  const about = t(
    'Every accepted vote is delivered, can be claimed and is in all counts. Only for the rank some may weigh less (<link>the rules</link>).',
    { link: linkTo(`${base}/how-ranking-works#weight`) },
  );
  return deckCard({
    title: t('Votes for the rank'),
    columns: 6,
    id: 'rank',
    body: html`<p class="soft small">${about}</p>${rankVotesTables(days)}`,
  });
}

/** Charts of the values that the server reported itself. The other charts have the values of probes. */
function reportedPart(path: string, reported: History, now: Date, days: number): Html {
  const about = t(
    'The server reported these values through the API. The charts above, averages and uptime come from our own checks.',
  );
  return part(
    t('Reported by the server'),
    12,
    `${path}/reported.csv?days=${days}`,
    html`<p class="soft small">${about}</p><div class="columns">
      ${playersChart(t('Players in {days} days, as reported', { days }), reported, now)}
      ${latencyChart(t('Latency in {days} days, as reported', { days }), reported, now)}</div>`,
  );
}

function voterTable(voters: TopVoter[], now: Date): Html {
  return html`<div class="voters">${dataTable({
    caption: t('Players with the most votes this month'),
    rows: voters,
    columns: [
      { title: t('Player'), heads: true, cell: ({ username }) => html`<bdi>${username}</bdi>` },
      { title: t('Votes'), kind: 'number', cell: ({ votes }) => count(votes) },
      { title: t('Last vote'), cell: ({ lastVotedAt }) => timeAgo(lastVotedAt, now) },
    ],
    empty: t('No votes this month.'),
  })}</div>`;
}

/** Of daily points, the last `days` full UTC days: the time of such a point is the beginning of its day. */
function since(points: HistoryPoint[], now: Date, days: number): HistoryPoint[] {
  return points.filter(({ at }) => now.getTime() - at.getTime() <= (days + 1) * DAY);
}

function withoutEmptyEnds(points: HistoryPoint[]): HistoryPoint[] {
  const hasData = ({ source }: HistoryPoint) => source !== null;
  const first = points.findIndex(hasData);
  return first === -1 ? [] : points.slice(first, points.findLastIndex(hasData) + 1);
}

type TableFile = (deps: AppDeps, serverId: ObjectId, days: number) => Promise<string>;

/** A CSV file with a line per day. `values` returns the cells after the day. */
function dailyFile(
  columns: string[],
  values: (point: HistoryPoint) => (number | null)[],
  of: 'history' | 'reported' = 'history',
): TableFile {
  return async (deps, serverId, days) => {
    const points = (await historyAndReports(deps, serverId, 'all'))[of]?.points ?? [];
    return csv(
      ['day', ...columns],
      since(points, deps.clock.now(), days).map((point) => [
        dayOf(point.at),
        ...values(point).map((value) => twoDecimals(value)),
      ]),
    );
  };
}

/** The CSV files by name. Each line is a UTC day or a player. Unknown values are empty cells. */
const FILES: Record<string, TableFile> = {
  'votes.csv': async (deps, serverId, days) => {
    const votes = await votesByDay(deps, serverId, days);
    return csv(
      ['day', 'votes'],
      votes.map(({ day, votes }) => [day, votes]),
    );
  },
  'players.csv': dailyFile(['average_players', 'peak_players'], ({ averagePlayers, peakPlayers }) => [
    averagePlayers,
    peakPlayers,
  ]),
  'latency.csv': dailyFile(['average_latency_ms'], ({ latencyMs }) => [latencyMs]),
  'reported.csv': dailyFile(
    ['average_players', 'peak_players', 'average_latency_ms'],
    ({ averagePlayers, peakPlayers, latencyMs }) => [averagePlayers, peakPlayers, latencyMs],
    'reported',
  ),
  'uptime.csv': async (deps, serverId) => {
    const days = await uptimeDays(deps, serverId);
    return csv(
      ['day', 'online_seconds', 'offline_seconds', 'unknown_seconds'],
      days.map(({ day, onlineSeconds, offlineSeconds, unknownSeconds }) => [
        day,
        ...[onlineSeconds, offlineSeconds, unknownSeconds].map(Math.round),
      ]),
    );
  },
  'voters.csv': async (deps, serverId) => {
    const month = monthOf(deps.clock.now());
    const voters = await topVotersOfMonth(deps, serverId, month, MOST_LISTED_VOTERS);
    return csv(
      ['player', 'votes', 'last_voted_at'],
      voters.map(({ username, votes, lastVotedAt }) => [username, votes, lastVotedAt.toISOString()]),
    );
  },
};
