/** A worker process. It works on the queues named on its command line, or on all. */
import { QUEUE_NAMES, QUEUES } from '../src/platform/queues.ts';
import { runProcess } from '../src/process/process.ts';
import { buildWorkers, WORKER_OPTIONS } from './build-workers.ts';
import { whileWorkIsSafe } from './while-work-is-safe.ts';

const queues = process.argv.slice(2);
if (queues.includes('--help')) {
  const width = Math.max(...QUEUE_NAMES.map((name) => name.length));
  const lines = QUEUE_NAMES.map((name) => `  ${name.padEnd(width)}  ${QUEUES[name].does}`);
  console.log(`Usage: node workers/main.ts [queue...]

Works on these queues, by default on all; \`forward-votes\` means the first three:

${lines.join('\n')}`);
} else {
  await runProcess(
    'worker',
    (deps, { metrics, stopping }) =>
      whileWorkIsSafe(deps, stopping, () => buildWorkers(deps, { metrics, queues })),
    WORKER_OPTIONS,
  );
}
