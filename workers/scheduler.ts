/** The scheduler process. It adds the jobs of periodic work and takes due probes. */
import { runProcess } from '../src/process/process.ts';
import { buildScheduler } from './build-scheduler.ts';
import { whileWorkIsSafe } from './while-work-is-safe.ts';

await runProcess('scheduler', (deps, { stopping }) =>
  whileWorkIsSafe(deps, stopping, (ending) => buildScheduler(deps, { stopping: ending })),
);
