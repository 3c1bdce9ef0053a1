/** A worker process. It works on the queues named on its command line, or on all. */
import { runProcess } from '../src/process/process.ts';
import { buildWorkers, WORKER_OPTIONS } from './build-workers.ts';
import { whileWorkIsSafe } from './while-work-is-safe.ts';

await runProcess(
  'worker',
  (deps, { metrics, stopping }) =>
    whileWorkIsSafe(deps, stopping, () => buildWorkers(deps, { metrics, queues: process.argv.slice(2) })),
  WORKER_OPTIONS,
);
