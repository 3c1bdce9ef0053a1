import type { GreyReason, History, HistoryPoint, UptimeDay } from '../history/history.ts';
import { inSlots } from '../history/history-slots.ts';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { barChart, lineChart, shareChart } from './chart.ts';
import type { Html } from './html.ts';
import { dataTable } from './parts.ts';
import { count, counted, day, decimal, duration, shortDay, time } from './words.ts';

const dayOfYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const shortHour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** So many slots a line has, and so many rows its table, about: a page stays small however old a server is. */
const MOST_SLOTS = 96;
const MOST_ROWS = 32;

/** How fine a line is drawn, and how fine its table is, in milliseconds. */
function finenessOf({ resolution, points }: History): { slotMs: number; rowMs: number; stepMs?: number } {
  if (resolution === 'samples') return { slotMs: 30 * MINUTE, rowMs: 2 * HOUR };
  if (resolution === 'hours') return { slotMs: 8 * HOUR, rowMs: DAY, stepMs: HOUR };
  const days = (most: number) => Math.ceil(points.length / most) * DAY;
  return { slotMs: days(MOST_SLOTS), rowMs: days(MOST_ROWS), stepMs: DAY };
}

const WHY_UNKNOWN: Record<GreyReason, string> = {
  'no-data': 'no check was made',
  unconfirmed: 'failed checks that no further one confirmed',
  canary: 'our own network was down',
};

type Level = {
  title: string;
  history: History;
  now: Date;
  unit: string;
  of(point: HistoryPoint): number | null;
};

/** A line of players or of latency over the time that `history` reaches back. */
function levelChart({ title, history, now, unit, of }: Level): Html {
  const { slotMs, rowMs, ...step } = finenessOf(history);
  const format = slotMs < DAY ? shortHour : dayOfYear;
  return lineChart({
    title,
    points: inSlots(history.points, { slotMs, ...step, now }).map((point) => ({
      label: format.format(point.at),
      value: of(point),
      told: whyNone(point),
    })),
    shown: (value) => `${count(Math.round(value))}${unit}`,
    empty: whyEmpty(history),
    numbers: dataTable({
      caption: title,
      rows: inSlots(history.points, { slotMs: rowMs, ...step, now }).toReversed(),
      columns: [
        { title: 'From', heads: true, cell: ({ at }) => (rowMs < DAY ? time(at) : day(at)) },
        {
          title: 'Average',
          kind: 'number',
          cell: (point) => {
            const value = of(point);
            return value === null ? whyNone(point) : `${decimal(value)}${unit}`;
          },
        },
      ],
      empty: '',
    }),
  });
}

/** Why a line has no point at all; only its latency can be unknown of a server that was online. */
function whyEmpty({ resolution, points }: History): string {
  const shares = points.flatMap(({ onlineShare }) => onlineShare ?? []);
  if (shares.some((share) => share > 0)) return 'No latency is known of this time.';
  if (shares.length > 0) return 'It was not seen online in this time.';
  if (points.length > 0) return 'It is not known whether it was online in this time.';
  return resolution === 'days'
    ? 'No whole day is computed yet.'
    : 'Nothing is known yet: neither a check nor a report.';
}

/** Why a point has no value. */
function whyNone({ onlineShare, reason }: HistoryPoint): string {
  if (onlineShare === 0) return 'offline';
  return reason === null ? 'unknown' : `unknown: ${WHY_UNKNOWN[reason]}`;
}

export function playersChart(title: string, history: History, now: Date): Html {
  return levelChart({ title, history, now, unit: '', of: ({ averagePlayers }) => averagePlayers });
}

export function latencyChart(title: string, history: History, now: Date): Html {
  return levelChart({ title, history, now, unit: ' ms', of: ({ latencyMs }) => latencyMs });
}

export function votesChart(votes: { day: string; votes: number }[]): Html {
  const total = votes.reduce((sum, { votes }) => sum + votes, 0);
  return barChart({
    title: `Votes of each day: ${counted(total, 'vote')} in ${votes.length} days`,
    points:
      total === 0 ? [] : votes.map(({ day, votes }) => ({ label: shortDay(new Date(day)), value: votes })),
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

const DAY_SECONDS = 86_400;
const percent = (seconds: number) => `${decimal((100 * seconds) / DAY_SECONDS)} %`;

/** Why a part of a day is grey: `2 hours: our own network was down`. */
function greyReasons({ unknown }: UptimeDay): string {
  const reasons = Object.entries(unknown) as [GreyReason, number][];
  return reasons
    .filter(([, seconds]) => seconds >= 1)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, seconds]) => `${duration(1_000 * seconds)}: ${WHY_UNKNOWN[reason]}`)
    .join('; ');
}

export function uptimeChart(days: UptimeDay[]): Html {
  return shareChart({
    title: 'Uptime of each of the last 30 days',
    days: days.map((one) => {
      const { day, onlineSeconds, offlineSeconds, unknownSeconds } = one;
      const why = greyReasons(one);
      return {
        label: `${shortDay(new Date(day))}: ${percent(onlineSeconds)} online, ${percent(offlineSeconds)} offline, ${percent(unknownSeconds)} unknown${why ? ` (${why})` : ''}`,
        good: onlineSeconds / DAY_SECONDS,
        bad: offlineSeconds / DAY_SECONDS,
      };
    }),
    empty: 'Nothing is known of the last 30 days.',
    numbers: dataTable({
      caption: 'Uptime of each day',
      rows: days.toReversed(),
      columns: [
        { title: 'Day', heads: true, cell: (row) => day(new Date(row.day)) },
        { title: 'Online', kind: 'number', cell: (row) => percent(row.onlineSeconds) },
        { title: 'Offline', kind: 'number', cell: (row) => percent(row.offlineSeconds) },
        { title: 'Unknown', kind: 'number', cell: (row) => percent(row.unknownSeconds) },
        { title: 'Why unknown', cell: greyReasons },
      ],
      empty: '',
    }),
  });
}

/** The place at the end of each day, the first one on top; `places` has every day, null where none was kept. */
export function rankChart(places: { day: string; place: number | null }[]): Html {
  return lineChart({
    title: `Rank of each of the last ${places.length} days`,
    firstOnTop: true,
    points: places.map(({ day, place }) => ({
      label: shortDay(new Date(day)),
      value: place,
      told: 'no ranking was kept',
    })),
    shown: (value) => count(Math.round(value)),
    empty: 'No rank is kept yet: the first one comes after the first whole day.',
    numbers: dataTable({
      caption: 'Rank of each day',
      rows: places.toReversed(),
      columns: [
        { title: 'Day', heads: true, cell: (row) => day(new Date(row.day)) },
        { title: 'Rank', kind: 'number', cell: ({ place }) => (place === null ? 'not kept' : count(place)) },
      ],
      empty: '',
    }),
  });
}
