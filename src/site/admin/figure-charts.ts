import { noDeliveries } from '../../delivery/figures/delivery-sums.ts';
import type { SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { barChart, lineChart } from '../shared/chart.ts';
import { arrivalChart, dayTable, deliveryChart, sourcesChart } from '../shared/delivery-charts.ts';
import { count, decimal, shortDay } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { card } from '../shared/parts.ts';
import { bytes } from './figure-rows.ts';

/**
 * The charts of the site's figures, each with a table of its numbers. Servers, players and storage are lines; the
 * others are bars.
 */
export function figureCharts(days: SiteDay[]): Html {
  const deliveries = days.map(({ day, figures }) => ({ ...(figures?.deliveries ?? noDeliveries()), day }));
  return html`${card({ title: 'Votes by source', body: sourcesChart(deliveries) })}
    ${card({ title: 'Delivered votes', body: deliveryChart(deliveries) })}
    ${card({ title: 'Time to delivery', body: arrivalChart(deliveries) })}
    <div class="columns">
      ${card({ title: 'Servers', body: level(days, 'Servers listed', ({ servers }) => servers.listed, whole) })}
      ${card({
        title: 'Players',
        body: level(days, 'Players online on average', ({ players }) => players?.average, decimal),
      })}
      ${card({ title: 'Sign-ups', body: bars(days, 'Sign-ups', ({ signUps }) => signUps) })}
      ${card({ title: 'Mails', body: bars(days, 'Mails sent', ({ mails }) => mails?.sent) })}
      ${card({ title: 'Storage', body: level(days, 'Data and indexes on disk', storageOf, bytes) })}
    </div>`;
}

const whole = (value: number) => count(Math.round(value));

const storageOf = ({ storage }: SiteFigures) => storage && storage.dataBytes + storage.indexBytes;

type Of = (figures: SiteFigures) => number | undefined;
type Row = { day: string; value: number | null };

function rowsOf(days: SiteDay[], of: Of): Row[] {
  return days.map(({ day, figures }) => ({ day, value: (figures && of(figures)) ?? null }));
}

function chartOf(rows: Row[], title: string, shown: (value: number) => string) {
  return {
    title: `${title} per day, last ${rows.length} days`,
    points: rows.map(({ day, value }) => ({ label: shortDay(new Date(day)), value, reason: 'not counted' })),
    shown,
    empty: 'Not counted yet.',
    numbers: dayTable(title, rows, [
      { title, kind: 'number', cell: ({ value }) => (value === null ? '–' : shown(value)) },
    ]),
  };
}

function level(days: SiteDay[], title: string, of: Of, shown: (value: number) => string): Html {
  return lineChart(chartOf(rowsOf(days, of), title, shown));
}

function bars(days: SiteDay[], title: string, of: Of): Html {
  return barChart(chartOf(rowsOf(days, of), title, whole));
}
