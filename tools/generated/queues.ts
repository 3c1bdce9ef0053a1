import { SECOND } from '../../src/platform/clock.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../src/platform/queues.ts';
import { WORKS } from '../../workers/works.ts';
import { part, table } from './generated.ts';

const defaults = loadConfig({});

function rowOf(name: QueueName): string[] {
  const { title, does } = QUEUES[name];
  const { concurrency = 1, limiter, period } = WORKS[name];
  const atOnce =
    typeof concurrency === 'number' ? concurrency : `\`${concurrency}\` (${defaults[concurrency]})`;
  const limit = limiter ? `; ${(limiter.most * SECOND) / limiter.inMs} a second over all workers` : '';
  return [
    `\`${name}\``,
    title,
    does,
    period ? `every ${period.every}` : 'when there is work',
    `${atOnce}${limit}`,
  ];
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
