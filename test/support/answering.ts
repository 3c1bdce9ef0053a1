import { type AnswerLimits, type Answers, createAnswers, LIMITS } from '../../src/platform/answers.ts';
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

/** The asker of a process that waits for less long; closed as the worker is. */
export function askerWith(
  { producerRedis: connection, queues, config, producer, log }: AppDeps,
  limits: Partial<AnswerLimits>,
): Answers {
  const parts = { config, connection, queue: queues['answer-now'], producer, log };
  const answers = createAnswers(parts, { ...LIMITS, ...limits });
  atTheEnd(() => answers.close());
  return answers;
}
