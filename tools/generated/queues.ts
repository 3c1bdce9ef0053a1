import { SECOND } from '../../src/platform/clock.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../src/platform/queues.ts';
import { WORKS } from '../../workers/works.ts';
import { code, part, table } from './generated.ts';

const defaults = loadConfig({});

function rowOf(name: QueueName): string[] {
  const { title, does } = QUEUES[name];
  const { concurrency = 1, limiter } = WORKS[name];
  const atOnce =
    typeof concurrency === 'number' ? concurrency : `${code(concurrency)} (${defaults[concurrency]})`;
  const limit = limiter ? `; ${(limiter.most * SECOND) / limiter.inMs} a second over all workers` : '';
  return [code(name), title, does, periodText(name), `${atOnce}${limit}`];
}

function periodText(name: QueueName): string {
  const { period } = WORKS[name];
  if (!period) return 'when there is work';
  const { payload } = QUEUES[name];
  const isDaily = 'shape' in payload && 'day' in payload.shape;
  return isDaily ? `for each UTC day, looked for every ${period.every}` : `every ${period.every}`;
}

/** The table of queues under “Queues”. */
export const QUEUES_TABLE = [
  part('docs/operating/every-day.md', 'queues', () =>
    table(
      ['Queue', 'In Bull Board', 'A job', 'Jobs are added', 'At once in a worker process'],
      QUEUE_NAMES.map(rowOf),
    ),
  ),
];
