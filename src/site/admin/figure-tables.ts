import { totalOf } from '../../delivery/figures/delivery-sums.ts';
import { capitalized } from '../../language/language.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { QUEUES } from '../../platform/queues.ts';
import type { SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { rateOrDash, shareOrDash } from '../shared/delivery-charts.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { count, duration, measured } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { dataTable } from '../shared/parts.ts';
import { serverIcon } from '../shared/server-pictures.ts';
import { adminPath } from './admin-frame.ts';
import { changeMarkOf, countedDays, type Periods } from './figure-measures.ts';
import { FIGURES, type Figure } from './figure-rows.ts';
import type { TopServer } from './top-servers.ts';

/** `size` is the length of the bar behind the name. */
type BarRow = { name: Content; size: number; cells: Content[] };

/** A table with a bar behind each name, as long as its number beside the greatest. */
function barTable(caption: string, titles: [string, ...string[]], rows: BarRow[], empty: string): Html {
  if (rows.length === 0) return emptyLine(empty);
  const greatest = Math.max(...rows.map(({ size }) => size), 1);
  const bar = (size: number) => html`<svg aria-hidden="true"><rect
    width="${String(Math.round((1_000 * size) / greatest) / 10)}%" height="100%" rx="4" /></svg>`;
  return html`<table class="barred"><caption class="for-readers">${caption}</caption>
    <thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
    <tbody>${rows.map(
      ({ name, size, cells }) =>
        html`<tr><th scope="row">${bar(size)}<span>${name}</span></th>${cells.map(
          (cell) => html`<td>${cell}</td>`,
        )}</tr>`,
    )}</tbody></table>`;
}

export function serversTable(base: string, servers: TopServer[]): Html {
  const rows = servers.map((server) => ({
    name: html`${serverIcon(base, server, 20)}<a
      href="${adminPath(base, `/servers/${server.id}`)}"><bdi>${server.name}</bdi></a>`,
    size: server.votesCount,
    cells: [count(server.votesCount), rateOrDash(server.successRate)],
  }));
  return barTable(
    'The first servers of the ranking by votes',
    ['Server', 'Votes', 'Success'],
    rows,
    'No server is in the ranking yet.',
  );
}

export function failedCausesTable({ now, period }: Periods): Html {
  const { causes } = totalOf(countedDays(now).map(({ deliveries }) => deliveries));
  const entries = (Object.entries(causes) as [OutcomeCode, number][]).toSorted(([, a], [, b]) => b - a);
  const all = entries.reduce((sum, [, attempts]) => sum + attempts, 0);
  const rows = entries.map(([code, attempts]) => ({
    name: capitalized(code.replaceAll('-', ' ')),
    size: attempts,
    cells: [count(attempts), shareOrDash(attempts, all)],
  }));
  const caption = `Failed attempts in ${period.text} by cause`;
  return barTable(caption, ['Cause', 'Attempts', 'Share'], rows, 'No attempt failed.');
}

export function sourcesTable({ now, period }: Periods): Html {
  const { page, api } = totalOf(countedDays(now).map(({ deliveries }) => deliveries));
  const rows = Object.entries({ 'Vote pages': page, API: api }).map(([name, votes]) => ({
    name,
    size: votes,
    cells: [count(votes), shareOrDash(votes, page + api)],
  }));
  return barTable(`Votes in ${period.text} by source`, ['Source', 'Votes', 'Share'], rows, '');
}

const AGES: Record<string, string> = {
  under_1m: 'under a minute',
  '1m_to_10m': '1 to 10 minutes',
  '10m_to_1h': '10 minutes to an hour',
  '1h_to_6h': '1 to 6 hours',
  '6h_to_24h': '6 to 24 hours',
  over_24h: 'over 24 hours',
};

export function waitingTable({ waiting }: SiteFigures): Html {
  const rows = Object.entries(waiting ? AGES : {}).map(([age, name]) => {
    const votes = waiting?.[age] ?? 0;
    return { name, size: votes, cells: [count(votes)] };
  });
  return barTable('Waiting votes by age', ['Age', 'Votes'], rows, 'Not measured yet.');
}

export function queuesTable({ day, queues = {} }: SiteFigures): Html {
  const waits = Object.entries(queues).filter(([, seconds]) => seconds > 0);
  const rows = waits
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, seconds]) => ({ name: titleOf(name), size: seconds, cells: [waited(seconds * SECOND)] }));
  const caption = `Longest time that work of each queue waited, of all counts on ${day}`;
  return barTable(caption, ['Queue', 'Waited'], rows, 'Nothing waited.');
}

const waited = (ms: number) => (ms < MINUTE ? measured(ms) : duration(ms));

function titleOf(name: string): string {
  return Object.hasOwn(QUEUES, name) ? QUEUES[name as keyof typeof QUEUES].title : name;
}

/** Every counted figure: today, yesterday, the period, and the one before if it is known. */
export function allFigures({ now, before, period }: Periods, today: SiteDay[]): Html {
  const isCompared = before.length > 0;
  const column = (title: string, days: SiteDay[], of?: SiteDay[]) => ({
    title,
    kind: 'number' as const,
    cell: (figure: Figure) => {
      const value = figure.of(countedDays(days));
      return html`${figure.shown(value)} ${of ? changeMarkOf(figure, value, figure.of(countedDays(of))) : ''}`;
    },
  });
  return dataTable<Figure>({
    caption: `All figures of ${period.text}${isCompared ? ` against the ${period.text} before` : ''}`,
    rows: FIGURES,
    columns: [
      { title: 'Figure', heads: true, cell: ({ title }) => title },
      column('Today so far', today),
      column('Yesterday', now.slice(-1), now.slice(-2, -1)),
      column(period.text, now, before),
      ...(isCompared ? [column(`${period.text} before`, before)] : []),
    ],
    empty: '',
  });
}
