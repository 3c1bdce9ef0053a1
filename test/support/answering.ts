import type { AppDeps } from '../../src/process/app-deps.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { buildWorkers } from '../../workers/build-workers.ts';
import { atTheEnd } from './at-the-end.ts';

/**
 * A worker of `answer-now` in this process, with the dependencies of the application that asks it; stopped when the test
 * ends, or the file (see `atTheEnd`).
 */
export function startAnswering(deps: AppDeps): void {
  const worker = buildWorkers(deps, { metrics: createMetrics(deps), queues: ['answer-now'] });
  atTheEnd(() => worker.close());
}
