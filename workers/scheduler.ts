/** The scheduler process: it enqueues periodic work and claims due probes. */
import { runProcess } from '../src/process/process.ts';
import { buildScheduler } from './build-scheduler.ts';
import { whileClockIsRight } from './while-clock-is-right.ts';

await runProcess('scheduler', (platform, { stopping }) =>
  whileClockIsRight(platform, stopping, (ending) => buildScheduler(platform, { stopping: ending })),
);
