import { type AnswerLimits, type Answers, createAnswers, LIMITS } from '../../src/platform/worker-answers.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { buildWorkers } from '../../workers/build-workers.ts';
import { atTheEnd } from './at-the-end.ts';

/**
 * Starts a worker for the queue `answer-now` in this process, with the dependencies of the application that uses it. It
 * is stopped when the test or the file ends (see `atTheEnd`).
 */
export function startAnswering(deps: AppDeps): void {
  const worker = buildWorkers(deps, { metrics: createMetrics(deps), queues: ['answer-now'] });
  atTheEnd(() => worker.close());
}

/** An `answers` dependency with shorter waits than in production. It is closed when the test or the file ends. */
export function askerWith(
  { producerRedis: connection, queues, config, producer, log }: AppDeps,
  limits: Partial<AnswerLimits>,
): Answers {
  const parts = { config, connection, queue: queues['answer-now'], producer, log };
  const answers = createAnswers(parts, { ...LIMITS, ...limits });
  atTheEnd(() => answers.close());
  return answers;
}
