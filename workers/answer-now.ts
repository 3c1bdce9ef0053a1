import { ObjectId } from 'mongodb';
import { diagnoseForOwner } from '../src/delivery/diagnosis/diagnose-listener.ts';
import { createVoteSender } from '../src/delivery/send-vote.ts';
import { testWebhook } from '../src/notifications/discord/test-webhook.ts';
import { MINUTE, SECOND } from '../src/platform/clock.ts';
import { UnsealError } from '../src/platform/secrets.ts';
import { isTransientError } from '../src/platform/transient-errors.ts';
import {
  type AnswerProgress,
  DEADLINE_MS,
  type Question,
  type WorkersAnswer,
} from '../src/platform/worker-answers.ts';
import { createAsk } from '../src/probing/ask-server.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { AnswerOf, ProofAnswer, Task } from '../src/workflows/answer-now.ts';
import { proveDraft, proveMove } from '../src/workflows/prove-draft.ts';
import type { ProofResult, Prover } from '../src/workflows/request-proof.ts';
import type { QueueWork, RunningJob } from './queue-work.ts';
import { settingTasks } from './setting-tasks.ts';

/**
 * Answers a question. If the worker of a question dies, the question is not run again: a second run would send a test
 * vote twice, and the user would wait even longer.
 */
export const answerNowWork: QueueWork<'answer-now'> = {
  concurrency: 'ANSWER_CONCURRENCY',
  // If the worker of the job is killed, the waiting user gets a message after twice this time at most.
  lockMs: 10 * SECOND,
  processor({ deps, waitNoLonger, pictureProcess }) {
    const tasks = { ...createTasks(deps), ...settingTasks(deps, pictureProcess) };
    return async (question, job): Promise<WorkersAnswer<AnswerOf[Task]>> => {
      if (job.wasStalled) return { kind: 'interrupted' };
      const ageMs = deps.clock.now().getTime() - Date.parse(question.askedAt);
      if (ageMs > DEADLINE_MS) {
        deps.log.info({ event: 'answer.dropped', task: question.task, jobId: job.id, ageMs });
        return { kind: 'dropped' };
      }
      const answering = answer(tasks, question, showSteps(job)).catch((error: unknown) => {
        if (!isTransientError(error)) throw error;
        deps.log.warn({ event: 'answer.failed', task: question.task, jobId: job.id, reason: String(error) });
        return { kind: 'failed' as const };
      });
      return orInterrupted(answering, waitNoLonger);
    };
  },
};

/** Waits for `answering`. If `waitNoLonger` is aborted first, the result is `interrupted`. */
async function orInterrupted<T>(
  answering: Promise<T>,
  waitNoLonger: AbortSignal,
): Promise<T | { kind: 'interrupted' }> {
  const { promise: interrupted, resolve } = Promise.withResolvers<{ kind: 'interrupted' }>();
  const onStop = () => resolve({ kind: 'interrupted' });
  waitNoLonger.addEventListener('abort', onStop);
  try {
    return await Promise.race([answering, interrupted]);
  } finally {
    waitNoLonger.removeEventListener('abort', onStop);
  }
}

/** Returns a function that reports each step as the progress of `job`. */
function showSteps(job: RunningJob): (step: string) => void {
  const steps: string[] = [];
  return (step) => {
    steps.push(step);
    job.showProgress({ steps } satisfies AnswerProgress);
  };
}

async function answer(
  tasks: ReturnType<typeof createTasks> & ReturnType<typeof settingTasks>,
  question: Question,
  onStep: (step: string) => void,
): Promise<{ kind: 'answered'; result: AnswerOf[Task] }> {
  switch (question.task) {
    case 'check-draft':
      return { kind: 'answered', result: await tasks.checkDraft(question) };
    case 'check-move':
      return { kind: 'answered', result: await tasks.checkMove(question) };
    case 'test-listener':
      return { kind: 'answered', result: await tasks.testListener(question, onStep) };
    case 'test-discord':
      return { kind: 'answered', result: await tasks.testDiscord(question) };
    case 'test-mail':
      return { kind: 'answered', result: await tasks.testMail(question) };
    case 'test-openid':
      return { kind: 'answered', result: await tasks.testOpenId() };
    case 'encode-logo':
      return { kind: 'answered', result: await tasks.encodeLogo(question) };
  }
}

type Ids = { serverId: string };

function createTasks(deps: AppDeps) {
  const proveDeps = { ...deps, ask: createAsk(deps.config) };
  const diagnosisDeps = { ...deps, send: createVoteSender(deps.config) };

  /** Calls `prove` with the user. If the account was deleted: `not-found`, because its drafts were deleted too. */
  async function asUser(
    userId: string,
    prove: (prover: Prover) => Promise<ProofResult>,
  ): Promise<ProofAnswer> {
    const user = await deps.users.findOne({ _id: new ObjectId(userId) }, { projection: { email: 1 } });
    if (!user) return { kind: 'not-found' };
    try {
      return proofAnswer(await prove(user));
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') return { kind: 'busy' };
      throw error;
    }
  }

  return {
    checkDraft: ({ draftId, userId }: { draftId: string; userId: string }) =>
      asUser(userId, (prover) => proveDraft(proveDeps, prover, new ObjectId(draftId))),
    checkMove: ({ serverId, userId }: Ids & { userId: string }) =>
      asUser(userId, (prover) => proveMove(proveDeps, prover, new ObjectId(serverId))),
    async testListener(
      { serverId }: Ids,
      onStep: (step: string) => void,
    ): Promise<AnswerOf['test-listener']> {
      try {
        return await diagnoseForOwner(diagnosisDeps, new ObjectId(serverId), onStep);
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        deps.log.error({ event: 'diagnosis.failed', serverId, error: String(error) });
        return { kind: 'unreadable' };
      }
    },
    async testDiscord({ serverId }: Ids): Promise<AnswerOf['test-discord']> {
      const server = await deps.servers.findOne({ _id: new ObjectId(serverId), removedAt: null });
      return server ? testWebhook(deps, server, AbortSignal.timeout(MINUTE)) : { kind: 'none' };
    },
  };
}

/** The result of a proof as JSON. */
function proofAnswer(proved: ProofResult): ProofAnswer {
  return proved.kind === 'listed' ? { kind: 'listed', serverId: proved.serverId.toHexString() } : proved;
}
