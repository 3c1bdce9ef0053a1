import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import type { WithId } from 'mongodb';
import type { Server } from '../../servers/server.ts';
import { type HistoryPoint, historyOf, type UptimeDay, uptimeDays } from '../../status/history.ts';
import { type TopVoter, topVoters } from '../../votes/top-voters.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { serverOf } from '../access.ts';
import { barChart, lineChart, shareChart } from '../chart.ts';
import { PageError } from '../error-pages.ts';
import type { Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { OWNER } from '../page-route.ts';
import { card, dataTable } from '../parts.ts';
import { count, counted, day, decimal, timeAgo } from '../words.ts';
import type { DashboardSources } from './dashboard.ts';
import { serverFrame, serverPath } from './server-frame.ts';
import { isTableName, since, TABLES } from './statistics-tables.ts';

/** How many days the charts of votes, players and latency may reach back. */
const SPANS = [30, 90] as const;
export const TOP_VOTERS = 25;

/** `/dashboard/servers/<id>/statistics`: charts, their numbers, and both as files. */
export function statisticsPages(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;

  app.get('/servers/:serverId/statistics', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const now = platform.clock.now();
    const days = spanOf(request.query);
    const path = serverPath(base, server, '/statistics');
    const [votes, fine, daily, uptime, voters] = await Promise.all([
      votesByDay(platform, server._id, days),
      days === 30 ? historyOf(platform, server._id, '30d') : null,
      historyOf(platform, server._id, 'all'),
      uptimeDays(platform, server._id),
      topVoters(platform, server._id, TOP_VOTERS),
    ]);
    const recent = since(daily.points, now, days);
    const points = fine?.points ?? recent;
    const body = html`<p class="actions">${SPANS.map((span) => spanLink(path, span, days))}<span class="soft small">All days are UTC.</span></p>
      ${part('Votes', path, `votes.csv?days=${days}`, votesChart(votes))}
      ${part('Players', path, `players.csv?days=${days}`, levelChart({ title: `Players in ${days} days`, points, daily: recent, unit: '', of: ({ averagePlayers }) => averagePlayers }))}
      ${part('Latency', path, `latency.csv?days=${days}`, levelChart({ title: `Latency in ${days} days`, points, daily: recent, unit: ' ms', of: ({ latencyMs }) => latencyMs }))}
      ${part('Uptime in the last 30 days', path, 'uptime.csv', uptimeChart(uptime))}
      ${part('Top voters this month', path, 'voters.csv', voterTable(voters, now))}`;
    return sendPage(request, reply, {
      title: `Statistics · ${server.name}`,
      body: serverFrame({ base, server, now, part: '/statistics', body }),
    });
  });

  app.get('/servers/:serverId/statistics/:table', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { table = '' } = request.params as { table?: string };
    if (!isTableName(table)) throw new PageError(404, 'There is no such table.');
    const text = await TABLES[table](platform, server._id, spanOf(request.query));
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

/** A slug has nothing that a header or a file system minds. */
function fileName({ slug }: WithId<Server>, table: string): string {
  return `${slug}-${table}`;
}

function spanLink(path: string, span: number, current: number): Html {
  return html`<a class="button ${span === current ? '' : 'quiet'}" href="${path}?days=${String(span)}" ${span === current ? html`aria-current="true"` : ''}>${String(span)} days</a>`;
}

function part(title: string, path: string, file: string, body: Html): Html {
  return card({
    title,
    actions: html`<a href="${path}/${file}" download>Download CSV<span class="for-readers">: ${title}</span></a>`,
    body,
  });
}

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortHour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

function votesChart(votes: { day: string; votes: number }[]): Html {
  const total = votes.reduce((sum, { votes }) => sum + votes, 0);
  return barChart({
    title: `Votes of each day: ${counted(total, 'vote')} in ${votes.length} days`,
    points:
      total === 0
        ? []
        : votes.map(({ day, votes }) => ({ label: shortDay.format(new Date(day)), value: votes })),
    shown: (value) => count(value),
    empty: `No vote in the last ${votes.length} days.`,
    numbers: dataTable({
      caption: 'Votes of each day',
      rows: votes.toReversed(),
      columns: [
        { title: 'Day', heads: true, cell: (row) => day(new Date(row.day)) },
        { title: 'Votes', kind: 'number', cell: (row) => count(row.votes) },
      ],
      empty: '',
    }),
  });
}

type Level = {
  title: string;
  points: HistoryPoint[];
  /** The same by days, for the table. */
  daily: HistoryPoint[];
  unit: string;
  of(point: HistoryPoint): number | null;
};

function levelChart({ title, points, daily, unit, of }: Level): Html {
  const isFine = points !== daily;
  const format = isFine ? shortHour : shortDay;
  return lineChart({
    title,
    points: points.map((point) => ({ label: format.format(point.at), value: of(point) })),
    shown: (value) => `${count(Math.round(value))}${unit}`,
    empty: 'Nothing is known yet: neither a check nor a report.',
    numbers: dataTable({
      caption: `${title}, by day`,
      rows: daily.toReversed(),
      columns: [
        { title: 'Day', heads: true, cell: ({ at }) => day(at) },
        {
          title: 'Average',
          kind: 'number',
          cell: (point) => {
            const value = of(point);
            return value === null ? 'unknown' : `${decimal(value)}${unit}`;
          },
        },
      ],
      empty: 'No whole day is computed yet.',
    }),
  });
}

/** Shares of a day, which has 86,400 seconds. */
const percent = (seconds: number) => `${decimal((100 * seconds) / 86_400)} %`;

function uptimeChart(days: UptimeDay[]): Html {
  return shareChart({
    title: 'Uptime of each of the last 30 days',
    days: days.map(({ day, onlineSeconds, offlineSeconds, unknownSeconds }) => ({
      label: `${shortDay.format(new Date(day))}: ${percent(onlineSeconds)} online, ${percent(offlineSeconds)} offline, ${percent(unknownSeconds)} unknown`,
      good: onlineSeconds / 86_400,
      bad: offlineSeconds / 86_400,
    })),
    empty: 'Nothing is known of the last 30 days.',
    numbers: dataTable({
      caption: 'Uptime of each day',
      rows: days.toReversed(),
      columns: [
        { title: 'Day', heads: true, cell: (row) => day(new Date(row.day)) },
        { title: 'Online', kind: 'number', cell: (row) => percent(row.onlineSeconds) },
        { title: 'Offline', kind: 'number', cell: (row) => percent(row.offlineSeconds) },
        { title: 'Unknown', kind: 'number', cell: (row) => percent(row.unknownSeconds) },
      ],
      empty: '',
    }),
  });
}

function voterTable(voters: TopVoter[], now: Date): Html {
  return dataTable({
    caption: 'Players with the most votes this month',
    rows: voters,
    columns: [
      { title: 'Player', heads: true, cell: ({ username }) => html`<bdi>${username}</bdi>` },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
      { title: 'Last vote', cell: ({ lastVotedAt }) => timeAgo(lastVotedAt, now) },
    ],
    empty: 'Nobody has voted this month.',
  });
}
