import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import { type History, historyAndReports, uptimeDays } from '../../history/history.ts';
import { t } from '../../language/t.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { type RankDay, rankVotesByDay } from '../../ranking/evidence/rank-votes.ts';
import type { Server } from '../../servers/server.ts';
import { type TopVoter, topVoters } from '../../votes/top-voters.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { count, timeAgo } from '../shared/format.ts';
import { latencyChart, playersChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, dataTable } from '../shared/parts.ts';
import { rankVotesTables } from '../shared/rank-votes-tables.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';
import { isTableName, since, TABLES, withoutEmptyEnds } from './statistics-tables.ts';

/** The ranges of the charts in days. */
const SPANS = [30, 90] as const;
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
      topVoters(deps, server._id, TOP_VOTERS),
      rankVotesByDay(deps, server._id, dayOf(now)),
    ]);
    const recent = { ...history, points: since(history.points, now, days) };
    const reports = reported && {
      ...reported,
      points: withoutEmptyEnds(since(reported.points, now, days)),
    };
    const players = playersChart(t('Players in {days} days', { days }), recent, now);
    const latency = latencyChart(t('Latency in {days} days', { days }), recent, now);
    const body = html`<p class="actions">
        ${SPANS.map((span) => spanLink(path, span, days))}<span class="soft small">${t('All days are UTC.')}</span>
      </p>
      ${part(t('Votes'), path, `votes.csv?days=${days}`, votesChart(votes))}
      ${rankPart(base, rankDays)}
      ${part(t('Players'), path, `players.csv?days=${days}`, players)}
      ${part(t('Latency'), path, `latency.csv?days=${days}`, latency)}
      ${reports && reports.points.length > 0 ? reportedPart(path, reports, now, days) : ''}
      ${part(t('Uptime in the last {days} days', { days: UPTIME_DAYS }), path, 'uptime.csv', uptimeChart(uptime))}
      ${part(t('Top voters this month'), path, 'voters.csv', voterTable(voters, now))}`;
    return sendPage(request, reply, {
      title: `${t('Statistics')} · ${server.name}`,
      scripts: ['charts.js'],
      ...serverFrame({ site: app.site, server, now, part: '/statistics', body }),
    });
  });

  app.get('/servers/:serverId/statistics/:table', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { table = '' } = request.params as { table?: string };
    if (!isTableName(table)) throw new PageError(404, t('This file does not exist.'));
    const text = await TABLES[table](deps, server._id, spanOf(request.query));
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${fileName(server, table)}"`)
      .type('text/csv; charset=utf-8')
      .send(text);
  });
}

function spanOf(query: unknown): (typeof SPANS)[number] {
  return (query as { days?: unknown }).days === '90' ? 90 : 30;
}

/** The file name of a download. The characters of a slug are safe in headers and file names. */
function fileName({ slug }: WithId<Server>, table: string): string {
  return `${slug}-${table}`;
}

function spanLink(path: string, span: number, current: number): Html {
  const isCurrent = span === current;
  const text = t('{span} days', { span: String(span) });
  return html`<a class="button ${isCurrent ? '' : 'quiet'}" href="${path}?days=${String(span)}"
    ${isCurrent ? html`aria-current="true"` : ''}>${text}</a>`;
}

function part(title: string, path: string, file: string, body: Html): Html {
  const download = t('Download CSV<span>: {title}</span>', {
    span: (text) => html`<span class="for-readers">${text}</span>`,
    title,
  });
  return card({ title, actions: html`<a href="${path}/${file}" download>${download}</a>`, body });
}

/** The card that says how much a server's votes count for the rank, and why some weigh less. */
function rankPart(base: string, days: RankDay[]): Html {
  const about = t(
    'Every accepted vote is delivered, can be claimed and is in all counts. Only for the rank some may weigh less (<link>the rules</link>).',
    { link: (text) => html`<a href="${base}/how-ranking-works#weight">${text}</a>` },
  );
  return card({
    title: t('Votes for the rank'),
    id: 'rank',
    body: html`<p class="soft">${about}</p>${rankVotesTables(days)}`,
  });
}

/** Charts of the values that the server reported itself. The other charts have the values of probes. */
function reportedPart(path: string, reported: History, now: Date, days: number): Html {
  const about = t(
    'The server reported these values through the API. The charts above, averages and uptime come from our own checks.',
  );
  return part(
    t('Reported by the server'),
    path,
    `reported.csv?days=${days}`,
    html`<p class="soft">${about}</p>
      ${playersChart(t('Players in {days} days, as reported', { days }), reported, now)}
      ${latencyChart(t('Latency in {days} days, as reported', { days }), reported, now)}`,
  );
}

function voterTable(voters: TopVoter[], now: Date): Html {
  return dataTable({
    caption: t('Players with the most votes this month'),
    rows: voters,
    columns: [
      { title: t('Player'), heads: true, cell: ({ username }) => html`<bdi>${username}</bdi>` },
      { title: t('Votes'), kind: 'number', cell: ({ votes }) => count(votes) },
      { title: t('Last vote'), cell: ({ lastVotedAt }) => timeAgo(lastVotedAt, now) },
    ],
    empty: t('No votes this month.'),
  });
}
