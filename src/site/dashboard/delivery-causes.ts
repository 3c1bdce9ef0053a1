import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { totalOf } from '../../delivery/figures/delivery-sums.ts';
import { t } from '../../language/t.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { numberColumn } from '../shared/delivery-charts.ts';
import { dayText } from '../shared/format.ts';
import { type Content, html } from '../shared/html.ts';
import { dataTable } from '../shared/parts.ts';

type Cause = { code: OutcomeCode; attempts: number; lastDay: string };

/** A table of the causes of failed attempts, most frequent first, each with its last day; empty if none failed. */
export function causesTable(days: DayOfDeliveries[]): Content {
  const causes = Object.entries(totalOf(days).causes) as [OutcomeCode, number][];
  const rows: Cause[] = causes
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, attempts]) => ({ code, attempts, lastDay: lastDayOf(days, code) }));
  if (rows.length === 0) return '';
  return dataTable({
    caption: t('Failed attempts by cause'),
    rows,
    columns: [
      {
        title: t('Cause'),
        heads: true,
        cell: ({ code }) => html`${t(outcomeOf(code).text.cause)} <code class="small">${code}</code>`,
      },
      numberColumn<Cause>(t('Failed attempts'), ({ attempts }) => attempts),
      { title: t('Last'), cell: ({ lastDay }) => dayText(new Date(lastDay)) },
    ],
    empty: '',
  });
}

function lastDayOf(days: DayOfDeliveries[], code: OutcomeCode): string {
  return days.findLast(({ causes }) => causes[code])?.day ?? '';
}
