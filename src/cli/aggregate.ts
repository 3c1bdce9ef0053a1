import type { Command } from 'commander';
import { aggregateDay, computableDays, requireComputable } from '../history/aggregate-day.ts';
import { refreshDailyFigures } from '../history/daily-figures.ts';
import { markAggregated } from '../history/due-aggregates.ts';
import { addDays } from '../platform/periods/period-marks.ts';
import { type Answer, withDeps } from './answer.ts';
import { wrongUse } from './failure.ts';
import { examples } from './invocation.ts';
import { dayOption } from './option-values.ts';
import { countWithNoun } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addAggregateCommand(command: Command, terminal: Terminal): void {
  command
    .option('--day <day>', 'this day', dayOption)
    .option('--since <day>', 'this day and all finished days after it', dayOption)
    .addHelpText('after', examples(terminal, 'aggregate --day 2026-11-20', 'aggregate --since 2026-11-01'))
    .action(withDeps(terminal, aggregate, { check: requireOneOption, longRun: true }));
}

type Options = { day?: string; since?: string };

function requireOneOption({ day, since }: Options): void {
  if ((day === undefined) === (since === undefined))
    throw wrongUse('Give either --day or --since, with a day such as 2026-11-20.');
}

async function aggregate(session: Session, { day, since }: Options): Promise<Answer> {
  const now = session.clock.now();
  const first = day ?? since ?? '';
  requireComputable(first, now);
  const last = day ?? computableDays(now).last;
  const days: { day: string; servers: number }[] = [];
  for (let next = first; next <= last; next = addDays(next, 1)) {
    const { servers } = await withProgress(session.terminal, `Aggregating ${next}`, 'servers', (progress) =>
      aggregateDay(session, next, { progress }),
    );
    days.push({ day: next, servers });
  }
  await withProgress(session.terminal, 'Computing figures', 'servers', (progress) =>
    refreshDailyFigures(session, { progress }),
  );
  // The days are marked as aggregated at the end: if this command fails earlier, a worker computes them.
  for (const computed of days) await markAggregated(session, computed.day, now);
  return {
    json: { days },
    text: days.map(({ day, servers }) => `${day}: ${countWithNoun(servers, 'server')}`).join('\n'),
  };
}
