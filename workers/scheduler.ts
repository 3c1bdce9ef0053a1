/** The scheduler process: it enqueues periodic work and claims due probes. */
import { runProcess } from '../src/process/process.ts';
import { buildScheduler } from './build-scheduler.ts';
import { whileWorkIsSafe } from './while-work-is-safe.ts';

await runProcess('scheduler', (platform, { stopping }) =>
  whileWorkIsSafe(platform, stopping, (ending) => buildScheduler(platform, { stopping: ending })),
);
