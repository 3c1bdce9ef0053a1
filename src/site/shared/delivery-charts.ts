import { percentile } from '../../delivery/figures/arrival-times.ts';
import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { failedAttempts, forwardedOf, successRate } from '../../delivery/figures/delivery-sums.ts';
import { t } from '../../language/t.ts';
import { barChart, legend, lineChart, shareChart } from './chart.ts';
import { count, counted, dayText, measured, oneDecimal, percentOf, shortDay } from './format.ts';
import type { Content, Html } from './html.ts';
import { type Column, dataTable } from './parts.ts';

type Days = DayOfDeliveries[];

const labelOf = (day: string) => shortDay(new Date(day));

export function timeOrDash(ms: number | null): string {
  return ms === null ? '–' : measured(ms);
}

/** A success rate, rounded down so that no failure reads as 100 %. */
export function rateOrDash(rate: number | null): string {
  return rate === null ? '–' : percentOf(oneDecimal(Math.floor(1_000 * rate) / 10));
}

/** A part of a whole, rounded so that the parts add up. */
export function shareOrDash(part: number, whole: number): string {
  return whole === 0 ? '–' : percentOf(oneDecimal((100 * part) / whole));
}

export function numberColumn<T>(title: string, of: (row: T) => number): Column<T> {
  return { title, kind: 'number', cell: (row) => count(of(row)) };
}

/** `rows` has the oldest day first, the table the newest. */
export function dayTable<T extends { day: string }>(caption: string, rows: T[], columns: Column<T>[]): Html {
  const day: Column<T> = { title: t('Day'), heads: true, cell: (row) => dayText(new Date(row.day)) };
  return dataTable({ caption, rows: rows.toReversed(), columns: [day, ...columns], empty: '' });
}

/** The rest of the forwarded votes waits. */
export function deliveryChart(days: Days): Html {
  const total = days.reduce((sum, one) => sum + forwardedOf(one), 0);
  return barChart({
    title: t('Forwarded votes per day by outcome, last {days} days', { days: days.length }),
    points: total === 0 ? [] : days.map(({ day, delivered }) => ({ label: labelOf(day), value: delivered })),
    bad: days.map(notArrived),
    shown: (value) => count(value),
    texts: days.map((one) => `${labelOf(one.day)}: ${deliveryText(one)}`),
    empty: t('No votes were forwarded in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Deliveries per day'), days, [
      numberColumn(t('Forwarded'), forwardedOf),
      numberColumn(t('Delivered'), ({ delivered }) => delivered),
      numberColumn(t('Waiting'), ({ waiting }) => waiting),
      numberColumn(t('Unconfirmed'), ({ unconfirmed }) => unconfirmed),
      numberColumn(t('Failed'), ({ failed }) => failed),
      { title: t('Success rate'), kind: 'number', cell: (row) => rateOrDash(successRate(row)) },
    ]),
  });
}

const notArrived = ({ failed, unconfirmed }: Days[number]) => failed + unconfirmed;

export function deliveryLegend(days: Days): Content {
  if (!days.some((one) => forwardedOf(one) > 0)) return '';
  return legend([
    ['column', t('delivered')],
    ...(days.some(notArrived) ? [['bad', t('failed or unconfirmed')] as ['bad', string]] : []),
  ]);
}

function deliveryText(one: Days[number]): string {
  const forwarded = forwardedOf(one);
  if (forwarded === 0) return t('no votes');
  const parts = [
    t('{delivered} of {votes} delivered', {
      delivered: count(one.delivered),
      votes: counted(forwarded, 'vote'),
    }),
    one.waiting > 0 && t('{votes} waiting', { votes: count(one.waiting) }),
    one.unconfirmed > 0 && t('{votes} unconfirmed', { votes: count(one.unconfirmed) }),
    one.failed > 0 && t('{votes} failed', { votes: count(one.failed) }),
  ];
  return parts.filter(Boolean).join(', ');
}

/** The times in which half and 95 % of a day's delivered votes arrived. */
export function arrivalChart(days: Days): Html {
  const p50 = days.map(({ times }) => percentile(times, 0.5));
  const p95 = days.map(({ times }) => percentile(times, 0.95));
  const rows = days.map(({ day }, i) => ({ day, p50: p50[i] ?? null, p95: p95[i] ?? null }));
  return lineChart({
    title: t('Time to delivery per day, last {days} days', { days: days.length }),
    isLogarithmic: true,
    points: rows.map(({ day, p50 }) => ({
      label: labelOf(day),
      value: p50,
      reason: t('no vote was delivered'),
      isEmpty: p50 === null,
    })),
    second: p95,
    shown: measured,
    details: (i) => `, ${t('95 % within {time}', { time: timeOrDash(p95[i] ?? null) })}`,
    empty: t('No vote was delivered in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Time to delivery per day'), rows, [
      { title: t('Half within'), kind: 'number', cell: ({ p50 }) => timeOrDash(p50) },
      { title: t('95 % within'), kind: 'number', cell: ({ p95 }) => timeOrDash(p95) },
    ]),
  });
}

export function arrivalLegend(days: Days): Content {
  if (days.every(({ times }) => percentile(times, 0.5) === null)) return '';
  return legend([
    ['line', t('half within (p50)')],
    ['second', t('95 % within (p95)')],
  ]);
}

/** A bar per day, red by the share of attempts that failed. */
export function attemptsChart(days: Days): Html {
  const tried = (one: Days[number]) => one.delivered + failedAttempts(one);
  return shareChart({
    title: t('Failed attempts per day, last {days} days', { days: days.length }),
    days: days.map((one) => {
      const [failures, attempts] = [failedAttempts(one), tried(one)];
      const share = attempts === 0 ? 0 : failures / attempts;
      const text = attempts === 0 ? t('no attempts') : attemptsText(one);
      const label = labelOf(one.day);
      return { label, text: `${label}: ${text}`, good: 1 - share, bad: share, isEmpty: attempts === 0 };
    }),
    empty: t('Nothing was sent in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Failed attempts per day'), days, [
      numberColumn(t('Failed attempts'), failedAttempts),
      numberColumn(t('Votes that failed'), ({ failed }) => failed),
      numberColumn(t('Delivered'), ({ delivered }) => delivered),
    ]),
  });
}

export function attemptsText(one: Days[number]): string {
  return t(
    '{failures, plural, =0 {no attempt failed} one {# attempt failed} other {# attempts failed}}, {delivered, plural, one {# vote was delivered} other {# votes were delivered}}',
    { failures: failedAttempts(one), delivered: one.delivered },
  );
}

export function sourcesChart(days: Days): Html {
  const total = days.reduce((sum, { page, api }) => sum + page + api, 0);
  const details = (i: number) => {
    const { page = 0, api = 0 } = days[i] ?? {};
    return `, ${t('{page} on the page, {api} through the API', { page: count(page), api: count(api) })}`;
  };
  return barChart({
    title: t('Votes by source per day, last {days} days', { days: days.length }),
    points: total === 0 ? [] : days.map(({ day, page, api }) => ({ label: labelOf(day), value: page + api })),
    shown: (value) => count(value),
    details,
    empty: t('No votes in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Votes by source per day'), days, [
      numberColumn(t('On the page'), ({ page }) => page),
      numberColumn(t('Through the API'), ({ api }) => api),
      numberColumn(t('Excluded'), ({ excluded }) => excluded),
    ]),
  });
}
