import type { SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { dataTable, figure as keyFigure } from '../shared/parts.ts';
import { changeOf, FIGURES, type Figure } from './figure-rows.ts';

/** The figures of `length` days; the last of them is `ago` days before today. Days without figures are left out. */
function range(days: SiteDay[], ago: number, length: number): SiteFigures[] {
  const end = days.length - ago;
  return days.slice(Math.max(0, end - length), end).flatMap(({ figures }) => figures ?? []);
}

/** The figures of the 7 whole days before today (`n` is 1), or of the 7 days before those (`n` is 2). */
export function week(days: SiteDay[], n: 1 | 2): SiteFigures[] {
  return range(days, 1 + 7 * (n - 1), 7);
}

/** The figures that are shown large, by the names of their CSV columns. */
const LARGE = ['votes_page', 'votes_api', 'success_rate', 'p95_ms', 'players_average', 'sign_ups'];

/** The most important figures of the last week, each with its change from the week before. */
export function weekFigures(days: SiteDay[]): Html {
  const [now, before] = [week(days, 1), week(days, 2)];
  const large = LARGE.flatMap((wanted) => FIGURES.find(({ column }) => column === wanted) ?? []);
  return html`<div class="figures">
    ${large.map((figure) => {
      const value = figure.of(now);
      const change = changeOf(figure, value, figure.of(before));
      return keyFigure(figure.title, figure.shown(value), change && `${change} to the 7 days before`);
    })}
  </div>`;
}

/** A table of all figures: today so far, and yesterday and the last week with their changes from the period before. */
export function comparison(days: SiteDay[]): Html {
  const today = range(days, 0, 1);
  const [day, dayBefore] = [range(days, 1, 1), range(days, 2, 1)];
  const [last, lastBefore] = [week(days, 1), week(days, 2)];
  const cell = (title: string, of: SiteFigures[], before?: SiteFigures[]) => ({
    title,
    kind: 'number' as const,
    cell: (figure: Figure) => valueWithChange(figure, of, before),
  });
  return dataTable<Figure>({
    caption: 'Figures of yesterday and of the last 7 days against those before',
    rows: FIGURES,
    columns: [
      { title: 'Figure', heads: true, cell: ({ title }) => title },
      cell('Today so far', today),
      cell('Yesterday', day, dayBefore),
      cell('Day before', dayBefore),
      cell('7 days', last, lastBefore),
      cell('7 days before', lastBefore),
    ],
    empty: '',
  });
}

function valueWithChange(figure: Figure, of: SiteFigures[], before?: SiteFigures[]): Content {
  const value = figure.of(of);
  const change = before ? changeOf(figure, value, figure.of(before)) : '';
  const shown = figure.shown(value);
  return change ? html`${shown} <span class="soft small">${change}</span>` : shown;
}
