/** The scheduler process: it enqueues periodic work and claims due probes. */
import { runProcess } from '../src/process.ts';
import { buildScheduler } from './build-scheduler.ts';

await runProcess('scheduler', buildScheduler);
