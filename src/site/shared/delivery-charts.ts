import { percentile } from '../../delivery/figures/arrival-times.ts';
import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { failedAttempts, forwardedOf, successRate } from '../../delivery/figures/delivery-sums.ts';
import { t } from '../../language/t.ts';
import { barChart, shareChart } from './chart.ts';
import { count, counted, dayText, measured, percent, shortDay } from './format.ts';
import type { Content, Html } from './html.ts';
import { type Column, dataTable } from './parts.ts';

type Days = DayOfDeliveries[];

const labelOf = (day: string) => shortDay(new Date(day));

export function timeOrDash(ms: number | null): string {
  return ms === null ? '–' : measured(ms);
}

export function shareOrDash(share: number | null): string {
  return share === null ? '–' : percent(share);
}

export function numberColumn<T>(title: string, of: (row: T) => number): Column<T> {
  return { title, kind: 'number', cell: (row) => count(of(row)) };
}

/** `rows` has the oldest day first, the table the newest. */
export function dayTable<T extends { day: string }>(caption: string, rows: T[], columns: Column<T>[]): Html {
  const day: Column<T> = { title: t('Day'), heads: true, cell: (row) => dayText(new Date(row.day)) };
  return dataTable({ caption, rows: rows.toReversed(), columns: [day, ...columns], empty: '' });
}

export function deliveryChart(days: Days): Html {
  return shareChart({
    title: t('Delivered votes per day, last {days} days', { days: days.length }),
    days: days.map((one) => {
      const forwarded = forwardedOf(one);
      const share = (votes: number) => (forwarded === 0 ? 0 : votes / forwarded);
      return {
        label: labelOf(one.day),
        text: `${labelOf(one.day)}: ${deliveryText(one)}`,
        good: share(one.delivered),
        bad: share(one.failed + one.unconfirmed),
        isEmpty: forwarded === 0,
      };
    }),
    empty: t('No votes were forwarded in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Deliveries per day'), days, [
      numberColumn(t('Forwarded'), forwardedOf),
      numberColumn(t('Delivered'), ({ delivered }) => delivered),
      numberColumn(t('Waiting'), ({ waiting }) => waiting),
      numberColumn(t('Unconfirmed'), ({ unconfirmed }) => unconfirmed),
      numberColumn(t('Failed'), ({ failed }) => failed),
      { title: t('Success rate'), kind: 'number', cell: (row) => shareOrDash(successRate(row)) },
    ]),
  });
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

/** The time in which 95 % of a day's delivered votes arrived; the text adds the median. */
export function arrivalChart(days: Days): Html {
  const p50 = days.map(({ times }) => percentile(times, 0.5));
  const p95 = days.map(({ times }) => percentile(times, 0.95));
  const rows = days.map(({ day }, i) => ({ day, p50: p50[i] ?? null, p95: p95[i] ?? null }));
  return barChart({
    title: t('Time to delivery per day, last {days} days', { days: days.length }),
    points: days.map(({ day }, i) => ({
      label: labelOf(day),
      value: p95[i] ?? null,
      reason: t('no vote was delivered'),
      isEmpty: p95[i] === null,
    })),
    shown: measured,
    details: (i) => `, ${t('half of them within {time}', { time: timeOrDash(p50[i] ?? null) })}`,
    empty: t('No vote was delivered in the last {days} days.', { days: days.length }),
    numbers: dayTable(t('Time to delivery per day'), rows, [
      { title: t('Half within'), kind: 'number', cell: ({ p50 }) => timeOrDash(p50) },
      { title: t('95 % within'), kind: 'number', cell: ({ p95 }) => timeOrDash(p95) },
    ]),
  });
}

export function failuresChart(days: Days, empty: Content): Html {
  const total = days.reduce((sum, one) => sum + failedAttempts(one), 0);
  return barChart({
    title: t('Failed attempts per day, last {days} days', { days: days.length }),
    points: total === 0 ? [] : days.map((one) => ({ label: labelOf(one.day), value: failedAttempts(one) })),
    shown: (value) => count(value),
    empty,
    numbers: dayTable(t('Failed attempts per day'), days, [
      numberColumn(t('Failed attempts'), failedAttempts),
      numberColumn(t('Votes that failed'), ({ failed }) => failed),
    ]),
  });
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
