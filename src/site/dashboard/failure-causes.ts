import { explainFor } from '../../delivery/diagnosis/listener-reason.ts';
import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { totalOf } from '../../delivery/figures/delivery-sums.ts';
import { t } from '../../language/t.ts';
import { type Explanation, NOTHING_TO_DO } from '../../listeners/explanation.ts';
import type { Listener } from '../../listeners/listener.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { numberColumn } from '../shared/delivery-charts.ts';
import { shortDay } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { dataTable } from '../shared/parts.ts';
import { codeWords } from '../shared/timeline-list.ts';

type Cause = Explanation & { code: OutcomeCode; attempts: number; share: number; last: string };

/** The causes of failed attempts, most attempts first, with what to do. `path`: of the server in the dashboard. */
export function causesTable(path: string, listener: Listener | null, days: DayOfDeliveries[]): Html {
  return html`<div class="causes">${dataTable({
    caption: t('Failed attempts by cause'),
    rows: causesOf(listener, days),
    columns: [
      {
        title: t('Cause'),
        heads: true,
        cell: ({ code, cause, share }) =>
          html`<b lang="en">${codeWords(code)}</b>${bar(share)}<p class="small soft">${t(cause)}</p>`,
      },
      numberColumn<Cause>(t('Attempts'), ({ attempts }) => attempts),
      { title: t('Last'), cell: ({ last }) => shortDay(new Date(last)) },
      { title: t('What to do'), cell: (cause) => whatToDo(path, listener, cause) },
    ],
    empty: t('No attempt failed in the last {days} days.', { days: days.length }),
  })}</div>`;
}

function causesOf(listener: Listener | null, days: DayOfDeliveries[]): Cause[] {
  const causes = Object.entries(totalOf(days).causes) as [OutcomeCode, number][];
  const sorted = causes.toSorted(([, a], [, b]) => b - a);
  const most = sorted[0]?.[1] ?? 1;
  return sorted.map(([code, attempts]) => ({
    code,
    attempts,
    share: attempts / most,
    last: days.findLast(({ causes }) => causes[code])?.day ?? '',
    ...(listener ? explainFor(listener, code) : outcomeOf(code).text),
  }));
}

function bar(share: number): Html {
  const width = `${String(Math.max(1, Math.round(100 * share)))}%`;
  return html`<svg class="cause-bar" aria-hidden="true"><rect class="whole" width="100%" height="100%" /><rect
    width="${width}" height="100%" /></svg>`;
}

function whatToDo(path: string, listener: Listener | null, { code, advice }: Cause): Content {
  if (advice === NOTHING_TO_DO) return t(advice);
  const [part, text] = mendedAt(listener, code);
  return html`${t(advice)} <a href="${path}${part}">${text}</a>`;
}

/** The page on which an owner mends the cause, or sees whether it is mended. */
function mendedAt(listener: Listener | null, code: OutcomeCode): [part: string, text: string] {
  const { class: kind, step } = outcomeOf(code);
  if (!listener) return ['/listener', t('Set up the vote listener')];
  if (kind === 'vote-only') return ['/votes?state=failed', t('Show the failed votes')];
  if (listener.protocol === 'fetch') return ['/connect', t('Connect')];
  const isOfSettings = kind === 'configuration' || step === 'name-resolution' || step === 'key-or-token';
  return isOfSettings
    ? ['/listener#settings', t('Open settings')]
    : ['/listener#test', t('Send a test vote')];
}
