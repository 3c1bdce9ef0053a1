/** A worker process: it works on the queues of its command line, or on all. */
import { runProcess } from '../src/process/process.ts';
import { buildWorkers, WORKER_OPTIONS } from './build-workers.ts';
import { whileClockIsRight } from './while-clock-is-right.ts';

await runProcess(
  'worker',
  (platform, { metrics, stopping }) =>
    whileClockIsRight(platform, stopping, () =>
      buildWorkers(platform, { metrics, queues: process.argv.slice(2) }),
    ),
  WORKER_OPTIONS,
);
