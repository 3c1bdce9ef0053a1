import { METRICS } from '../../src/process/metric-definitions.ts';
import { code, part, table } from './generated.ts';

/** If a label has more values, such as all queues or all outcomes, another table lists them. */
const LISTED_VALUES = 10;

const rows = Object.entries(METRICS).map(([name, { labels, help, ...rest }]) => {
  const names = Object.keys(labels);
  const values = Object.entries(labels).flatMap(([label, values]) =>
    values === 'any' || values.length > LISTED_VALUES
      ? []
      : [`Values of ${code(label)}: ${values.map(code).join(', ')}.`],
  );
  const more = 'more' in rest ? [rest.more] : [];
  return [code(names.length > 0 ? `${name}{${names}}` : name), [help, ...more, ...values].join(' ')];
});

/** The table of metrics under “Health and metrics”. */
export const METRICS_TABLE = [
  part('docs/operating/every-day.md', 'metrics', () => table(['Metric', 'Meaning'], rows)),
];
