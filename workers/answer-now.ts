import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { mailText } from '../src/accounts/mail-text.ts';
import { discoverOpenId, guardOfIssuer, OpenIdError } from '../src/accounts/other-sites/openid-connect.ts';
import { diagnoseForOwner } from '../src/delivery/diagnosis/diagnose-listener.ts';
import { createVoteSender } from '../src/delivery/send-vote.ts';
import { testSubscription } from '../src/events/test-subscription.ts';
import { createSmtpSender } from '../src/mail/smtp.ts';
import { MINUTE, SECOND } from '../src/platform/clock.ts';
import { PictureError, PictureProcessError } from '../src/platform/pictures/picture-error.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
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
import { storePicture } from '../src/servers/pictures.ts';
import { takeLogoUpload } from '../src/settings/logo-upload.ts';
import { uploadedFormat } from '../src/site/look/logo.ts';
import { SvgError } from '../src/site/look/svg-size.ts';
import type { AnswerOf, ProofAnswer, Task } from '../src/workflows/answer-now.ts';
import { checkPausedServer } from '../src/workflows/pause-listing.ts';
import { proveDraft, proveMove } from '../src/workflows/prove-draft.ts';
import type { ProofResult, Prover } from '../src/workflows/request-proof.ts';
import type { QueueWork, RunningJob } from './queue-work.ts';

/**
 * Answers a question. If the worker of a question dies, the question is not run again: a second run would send a test
 * vote twice, and the user would wait even longer.
 */
export const answerNowWork: QueueWork<'answer-now'> = {
  concurrency: 'ANSWER_CONCURRENCY',
  // If the worker of the job is killed, the waiting user gets a message after twice this time at most.
  lockMs: 10 * SECOND,
  processor({ deps, waitNoLonger, pictureProcess }) {
    const tasks: Tasks = { ...createTasks(deps), ...settingTasks(deps, pictureProcess) };
    return async (question, job): Promise<WorkersAnswer<AnswerOf[Task]>> => {
      if (job.wasStalled) return { kind: 'interrupted' };
      const ageMs = deps.clock.now().getTime() - Date.parse(question.askedAt);
      if (ageMs > DEADLINE_MS) {
        deps.log.info({ event: 'answer.dropped', task: question.task, jobId: job.id, ageMs });
        return { kind: 'dropped' };
      }
      const answering = tasks[question.task](question as never, showSteps(job)).then(
        (result) => ({ kind: 'answered' as const, result }),
        (error: unknown) => {
          if (!isTransientError(error)) throw error;
          deps.log.warn({
            event: 'answer.failed',
            task: question.task,
            jobId: job.id,
            reason: String(error),
          });
          return { kind: 'failed' as const };
        },
      );
      return orInterrupted(answering, waitNoLonger);
    };
  },
};

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

function showSteps(job: RunningJob): (step: string) => void {
  const steps: string[] = [];
  return (step) => {
    steps.push(step);
    job.showProgress({ steps } satisfies AnswerProgress);
  };
}

type Tasks = {
  [T in Task]: (
    question: Extract<Question, { task: T }>,
    onStep: (step: string) => void,
  ) => Promise<AnswerOf[T]>;
};

function createTasks(deps: AppDeps): Omit<Tasks, SettingTask> {
  const proveDeps = { ...deps, ask: createAsk(deps.config) };
  const diagnosisDeps = { ...deps, send: createVoteSender(deps.config) };

  async function asUser(
    userId: string,
    prove: (prover: Prover) => Promise<ProofResult>,
  ): Promise<ProofAnswer> {
    const user = await deps.users.findOne({ _id: new ObjectId(userId) }, { projection: { email: 1 } });
    // The account was deleted, and its drafts with it.
    if (!user) return { kind: 'not-found' };
    try {
      const proved = await prove(user);
      return proved.kind === 'listed' ? { ...proved, serverId: proved.serverId.toHexString() } : proved;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') return { kind: 'busy' };
      throw error;
    }
  }

  return {
    'check-draft': ({ draftId, userId }) =>
      asUser(userId, (prover) => proveDraft(proveDeps, prover, new ObjectId(draftId))),
    'check-move': ({ serverId, userId }) =>
      asUser(userId, (prover) => proveMove(proveDeps, prover, new ObjectId(serverId))),
    async 'check-paused'({ serverId, userId }) {
      const user = await deps.users.findOne({ _id: new ObjectId(userId) }, { projection: { email: 1 } });
      if (!user) return { kind: 'not-paused' };
      return checkPausedServer(proveDeps, new ObjectId(serverId), user.email);
    },
    'check-second': ({ serverId, userId }) =>
      asUser(userId, (prover) => proveMove(proveDeps, prover, new ObjectId(serverId), 'second')),
    async 'test-listener'({ serverId }, onStep) {
      try {
        return await diagnoseForOwner(diagnosisDeps, new ObjectId(serverId), onStep);
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        deps.log.error({ event: 'diagnosis.failed', serverId, error: String(error) });
        return { kind: 'unreadable' };
      }
    },
    'test-subscription': ({ serverId, subscriptionId }) =>
      testSubscription(
        deps,
        { serverId: new ObjectId(serverId), subscriptionId: new ObjectId(subscriptionId) },
        AbortSignal.timeout(MINUTE),
      ),
  };
}

/** The tasks for operators who change settings. */
type SettingTask = 'test-mail' | 'test-openid' | 'encode-logo';

const TEST_MAIL_MS = 20 * SECOND;

/** These mean that a file is no usable logo. */
const REFUSALS = [PictureError, PictureProcessError, SvgError];

/** The first two reload the stored settings, which may have changed since this process read them. */
function settingTasks(deps: AppDeps, pictureProcess: PictureProcess): Pick<Tasks, SettingTask> {
  const { config, liveSettings } = deps;
  const send = createSmtpSender(config, TEST_MAIL_MS);
  return {
    async 'test-mail'({ userId }) {
      await liveSettings.reload();
      if (config.SMTP_URL === undefined) return { kind: 'no-mail-server' };
      const user = await deps.users.findOne({ _id: new ObjectId(userId) }, { projection: { email: 1 } });
      if (!user) return { kind: 'no-user' };
      const letter = { id: randomUUID(), to: user.email, ...testLetter(config) };
      const result = await send(letter, AbortSignal.timeout(TEST_MAIL_MS));
      return 'reason' in result ? { ...result, reason: withoutSecrets(config, result.reason) } : result;
    },
    async 'test-openid'() {
      await liveSettings.reload();
      const { OIDC_ISSUER: issuer } = config;
      if (issuer === undefined) return { kind: 'not-set' };
      try {
        await discoverOpenId({ issuer, ranges: guardOfIssuer(config) });
        return { kind: 'usable' };
      } catch (error) {
        if (!(error instanceof OpenIdError)) throw error;
        return { kind: 'unusable', reason: error.message };
      }
    },
    async 'encode-logo'({ uploadId }) {
      const bytes = await takeLogoUpload(deps, uploadId);
      if (!bytes) return { kind: 'not-found' };
      try {
        const made = await pictureProcess.run('site-logo', { bytes, format: uploadedFormat(bytes) });
        return {
          kind: 'encoded',
          text: `${await storePicture(deps, made.bytes)} ${made.width} ${made.height}`,
        };
      } catch (error) {
        if (error instanceof PictureProcessError && error.code === 'stopped') throw error;
        if (!REFUSALS.some((kind) => error instanceof kind)) throw error;
        return { kind: 'refused', reason: reasonOf(error) };
      }
    },
  };
}

/** Null if nobody knows more than that the file cannot be read. */
function reasonOf(error: unknown): string | null {
  if (error instanceof PictureError && error.code === 'not-a-picture')
    return 'The file is no SVG, PNG or WebP picture.';
  return error instanceof SvgError || error instanceof PictureError ? error.message : null;
}

function testLetter(config: AppDeps['config']): { subject: string; text: string } {
  return mailText(
    config,
    'Test mail',
    'An operator of this listing sent this mail from the admin area. The mail server works.',
  );
}

/** The answer of the mail server may repeat them. */
function withoutSecrets({ SMTP_URL = '' }: AppDeps['config'], reason: string): string {
  const { username = '', password = '' } = URL.parse(SMTP_URL) ?? {};
  const secrets = [username, password].flatMap((text) => [text, decodeURIComponent(text)]);
  return secrets
    .filter((text) => text.length > 2)
    .reduce((text, secret) => text.replaceAll(secret, '***'), reason);
}
