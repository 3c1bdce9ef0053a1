import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import type { History, HistoryPoint, NoDataReason } from '../../history/history.ts';
import { inSlots } from '../../history/history-slots.ts';
import type { UptimeDay } from '../../history/uptime-days.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { after, DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { barChart, lineChart, shareChart } from './chart.ts';
import {
  count,
  counted,
  dayText,
  decimal,
  duration,
  hourText,
  localTime,
  percentOf,
  shortDay,
  shortTime,
} from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { dataTable } from './parts.ts';

/** The most points of a line and rows of its table. */
const MAX_SLOTS = 96;
const MAX_ROWS = 32;

/** `stepMs`: the longest time that one point of `history` represents; without it, up to the next point. */
function slotLengths({ resolution, points }: History): { slotMs: number; rowMs: number; stepMs?: number } {
  if (resolution === 'samples') return { slotMs: 30 * MINUTE, rowMs: 2 * HOUR };
  if (resolution === 'hours') return { slotMs: 8 * HOUR, rowMs: DAY, stepMs: HOUR };
  const days = (most: number) => Math.ceil(points.length / most) * DAY;
  return { slotMs: days(MAX_SLOTS), rowMs: days(MAX_ROWS), stepMs: DAY };
}

const WHY_UNKNOWN: Record<NoDataReason, Text> = {
  'no-data': defineMessage('no checks were made'),
  paused: defineMessage('paused by its owner'),
  unconfirmed: defineMessage('a failed check was not confirmed'),
  canary: defineMessage('our own network was down'),
};

type Level = {
  title: string;
  history: History;
  now: Date;
  unit: string;
  of(point: HistoryPoint): number | null;
  none: { point: Text; chart: Text };
};

function levelChart({ title, history, now, unit, of, none }: Level): Html {
  const { slotMs, rowMs, ...step } = slotLengths(history);
  const format = slotMs < DAY ? shortTime : dayText;
  return lineChart({
    title,
    points: inSlots(history.points, { slotMs, ...step, now }).map((point) => ({
      label: format(point.at),
      ...(slotMs < DAY ? { at: point.at } : {}),
      value: of(point),
      reason: whyNone(point, none.point),
    })),
    shown: (value) => `${count(Math.round(value))}${unit}`,
    empty: whyEmpty(history, none.chart),
    numbers: numbersTable(
      title,
      [t('From'), t('Average')],
      inSlots(history.points, { slotMs: rowMs, ...step, now }).map((point) => {
        const value = of(point);
        const time = rowMs < DAY ? localTime(point.at) : dayText(point.at);
        return [time, value === null ? whyNone(point, none.point) : `${decimal(value)}${unit}`];
      }),
    ),
  });
}

/**
 * Its two short columns fit on a phone, so rows do not become cards as in `dataTable`: the four such tables of a
 * server's page have about 150 rows together.
 */
export function numbersTable(
  caption: string,
  heads: [time: string, ...values: string[]],
  rows: [time: Content, ...values: string[]][],
): Html {
  return html`<table class="numbers"><caption class="for-readers">${caption}</caption>
    <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows
      .toReversed()
      .map(
        ([time, ...values]) =>
          html`<tr><th scope="row">${time}</th>${values.map((value) => html`<td>${value}</td>`)}</tr>`,
      )}</tbody></table>`;
}

function whyEmpty({ resolution, points }: History, online: Text): string {
  const shares = points.flatMap(({ onlineShare }) => onlineShare ?? []);
  if (shares.some((share) => share > 0)) return t(online);
  if (shares.length > 0) return t('The server was not online in this period.');
  if (points.length > 0) return t('Status unknown in this period.');
  return resolution === 'days'
    ? t('No data yet. The first full day appears tomorrow.')
    : t('No data yet: the server has not been checked and has not reported.');
}

function whyNone({ onlineShare, reason }: HistoryPoint, online: Text): string {
  if (onlineShare === 0) return t('offline');
  return reason === null ? t(online) : t('unknown: {reason}', { reason: t(WHY_UNKNOWN[reason]) });
}

const HIDDEN_PLAYERS = {
  point: defineMessage('players hidden'),
  chart: defineMessage('The server hides its number of players.'),
};

export function playersChart(title: string, history: History, now: Date): Html {
  return levelChart({
    title,
    history,
    now,
    unit: '',
    of: ({ averagePlayers }) => averagePlayers,
    none: HIDDEN_PLAYERS,
  });
}

export function latencyChart(title: string, history: History, now: Date): Html {
  const none = { point: defineMessage('unknown'), chart: defineMessage('No latency data for this period.') };
  return levelChart({ title, history, now, unit: ' ms', of: ({ latencyMs }) => latencyMs, none });
}

type VotesOfDay = { day: string; votes: number };

/** `before`: the votes of as many days before. */
export function votesChart(votes: VotesOfDay[], before: VotesOfDay[] = []): Html {
  const total = votes.reduce((sum, { votes }) => sum + votes, 0);
  const earlier = (index: number) => before[index]?.votes ?? 0;
  const hasBefore = before.length > 0;
  return barChart({
    title: t('Votes per day: {votes} in {days} days', {
      votes: counted(total, 'vote'),
      days: votes.length,
    }),
    points:
      total === 0 ? [] : votes.map(({ day, votes }) => ({ label: shortDay(new Date(day)), value: votes })),
    shown: (value) => count(value),
    before: before.map((day) => day.votes),
    details: (index) =>
      hasBefore ? `, ${t('{days} days before {votes}', { days: votes.length, votes: earlier(index) })}` : '',
    empty: t('No votes in the last {days} days.', { days: votes.length }),
    numbers: numbersTable(
      t('Votes per day'),
      [t('Day'), t('Votes'), ...(hasBefore ? [t('{days} days before', { days: votes.length })] : [])],
      votes.map(({ day, votes }, index) => [
        dayText(new Date(day)),
        count(votes),
        ...(hasBefore ? [count(earlier(index))] : []),
      ]),
    ),
  });
}

/** A UTC day by hour, from 0 to the current hour, beside the same day a week before. */
export function playersByHourChart(today: History, before: History, from: Date, beforeName: string): Html {
  const [ours, theirs] = [today, before].map(
    ({ points }) => new Map(points.map((one) => [one.at.getUTCHours(), one])),
  );
  const title = t('Players today');
  const last = Math.max(...(ours?.keys() ?? []), 0);
  const shown = (point: HistoryPoint | undefined) =>
    typeof point?.averagePlayers === 'number' ? count(Math.round(point.averagePlayers)) : '–';
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  const labelOf = (hour: number) => hourText(after(from, hour * HOUR));
  return lineChart({
    title,
    points: hours.map((hour) => {
      const point = ours?.get(hour);
      return { label: labelOf(hour), value: point?.averagePlayers ?? null, isEmpty: hour > last };
    }),
    before: hours.map((hour) => theirs?.get(hour)?.averagePlayers ?? null),
    shown: (value) => count(Math.round(value)),
    texts: hours.map(
      (hour) => `${labelOf(hour)}: ${shown(ours?.get(hour))}, ${beforeName} ${shown(theirs?.get(hour))}`,
    ),
    empty: whyEmpty(today, HIDDEN_PLAYERS.chart),
    numbers: numbersTable(
      title,
      [t('Hour (UTC)'), t('today'), beforeName],
      hours.map((hour) => [labelOf(hour), shown(ours?.get(hour)), shown(theirs?.get(hour))]),
    ),
  });
}

const DAY_SECONDS = 86_400;
const percent = (seconds: number) => percentOf(decimal((100 * seconds) / DAY_SECONDS));

/** `2 hours: our own network was down` */
function greyReasons({ unknown }: UptimeDay): string {
  const reasons = Object.entries(unknown) as [NoDataReason, number][];
  return reasons
    .filter(([, seconds]) => seconds >= 1)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, seconds]) => `${duration(1_000 * seconds)}: ${t(WHY_UNKNOWN[reason])}`)
    .join('; ');
}

export function uptimeChart(days: UptimeDay[], key: Content = ''): Html {
  return shareChart({
    key,
    title: t('Uptime per day, last {days} days', { days: UPTIME_DAYS }),
    days: days.map((one) => {
      const { day, onlineSeconds, offlineSeconds, unknownSeconds } = one;
      const why = greyReasons(one);
      const label = shortDay(new Date(day));
      const parts = [
        t('{share} online', { share: percent(onlineSeconds) }),
        offlineSeconds > 0 && t('{share} offline', { share: percent(offlineSeconds) }),
        unknownSeconds > 0 && t('{share} not measured', { share: percent(unknownSeconds) }),
      ].filter(Boolean);
      return {
        label,
        text: `${label}: ${parts.join(', ')}${why ? ` (${why})` : ''}`,
        good: onlineSeconds / DAY_SECONDS,
        bad: offlineSeconds / DAY_SECONDS,
      };
    }),
    empty: t('No data for the last {days} days.', { days: UPTIME_DAYS }),
    numbers: dataTable({
      caption: t('Uptime per day'),
      rows: days.toReversed(),
      columns: [
        { title: t('Day'), heads: true, cell: (row) => dayText(new Date(row.day)) },
        { title: t('Online'), kind: 'number', cell: (row) => percent(row.onlineSeconds) },
        { title: t('Offline'), kind: 'number', cell: (row) => percent(row.offlineSeconds) },
        { title: t('Unknown'), kind: 'number', cell: (row) => percent(row.unknownSeconds) },
        { title: t('Reason for unknown'), cell: greyReasons },
      ],
      empty: '',
    }),
  });
}

export function rankChart(ranks: { day: string; rank: number | null }[]): Html {
  return lineChart({
    title: t('Rank per day, last {days} days', { days: ranks.length }),
    firstOnTop: true,
    points: ranks.map(({ day, rank }) => ({
      label: shortDay(new Date(day)),
      value: rank,
      reason: t('no rank was recorded'),
    })),
    shown: (value) => count(Math.round(value)),
    empty: t('No rank history yet. The first rank appears after the first full day.'),
    numbers: numbersTable(
      t('Rank per day'),
      [t('Day'), t('Rank')],
      ranks.map(({ day, rank }) => [dayText(new Date(day)), rank === null ? t('not recorded') : count(rank)]),
    ),
  });
}
