import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { OwnerDiagnosis } from '../delivery/diagnosis/diagnose-listener.ts';
import type { OnStep } from '../delivery/diagnosis/diagnosis.ts';
import type { SubscriptionTest } from '../events/test-subscription.ts';
import type { DiagnosisStep } from '../listeners/outcomes/outcome-definition.ts';
import type { SendLetterResult } from '../mail/smtp.ts';
import type { NotAnswered, Question, QuestionResult } from '../platform/worker-answers.ts';
import type { MovedAddress } from '../servers/moves.ts';
import type { WorkflowsDeps } from './deps.ts';
import type { PauseCheck } from './pause-listing.ts';
import {
  type CheckRefused,
  type ProofResult,
  type Prover,
  requestDraftProof,
  requestMoveProof,
} from './request-proof.ts';

/** `busy`: another process took too long to decide about the same address. */
export type ProofAnswer =
  | { kind: 'listed'; serverId: string }
  | { kind: 'not-proven' | 'taken' | 'too-many-servers' | 'not-found' | 'busy' };

/** As JSON and without secrets. `unreadable`: the stored secret cannot be opened. */
export type AnswerOf = {
  'check-draft': ProofAnswer;
  'check-move': ProofAnswer;
  'check-paused': PauseCheck;
  'check-second': ProofAnswer;
  'test-listener': OwnerDiagnosis | { kind: 'unreadable' };
  'test-subscription': SubscriptionTest;
  'test-mail': MailTest;
  'test-openid': OpenIdTest;
  'encode-logo': EncodedLogo;
};

/** `reason`: the mail server's answer, or why there was no connection. */
export type MailTest = SendLetterResult | { kind: 'no-mail-server' | 'no-user' };

export type OpenIdTest = { kind: 'usable' | 'not-set' } | { kind: 'unusable'; reason: string };

/** `text`: for `LOGO_PICTURE`. `refused`: the file is no usable logo. */
export type EncodedLogo =
  | { kind: 'encoded'; text: string }
  | { kind: 'refused'; reason: string | null }
  | { kind: 'not-found' };

export type Task = keyof AnswerOf;

type Ids<T extends Task> = Omit<Extract<Question, { task: T }>, 'task' | 'askId' | 'askedAt'>;

/** Asks a worker to do a task while a user waits for the result (docs/adr/0114-a-thin-web-process.md). */
export async function answerNow<T extends Task>(
  { answers, clock }: WorkflowsDeps,
  task: T,
  ids: Ids<T>,
  onStep?: OnStep,
): Promise<QuestionResult<AnswerOf[T]>> {
  const asked = { askId: randomUUID(), askedAt: clock.now().toISOString() };
  const question = { task, ...ids, ...asked } as unknown as Question;
  const ended = await answers.ask(question, (step) => onStep?.(step as DiagnosisStep));
  return ended as QuestionResult<AnswerOf[T]>;
}

export type ProofEnded = ProofResult | CheckRefused | { kind: 'busy' } | NotAnswered;

/** A worker checks the server, unless stored data alone decides; see `proveDraft`. */
export async function proveDraftNow(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofEnded> {
  const known = await requestDraftProof(deps, prover, draftId);
  if (known) return known;
  const ids = { draftId: draftId.toHexString(), userId: prover._id.toHexString() };
  return proofOf(await answerNow(deps, 'check-draft', ids));
}

/** A worker queries the server of a paused listing. The caller counts the check. */
export function checkPausedServerNow(
  deps: WorkflowsDeps,
  { _id }: Prover,
  serverId: ObjectId,
): Promise<QuestionResult<PauseCheck>> {
  const ids = { serverId: serverId.toHexString(), userId: _id.toHexString() };
  return answerNow(deps, 'check-paused', ids);
}

export async function proveMoveNow(
  deps: WorkflowsDeps,
  prover: Prover,
  serverId: ObjectId,
  moved: MovedAddress = 'first',
): Promise<ProofEnded> {
  const known = await requestMoveProof(deps, prover, serverId, moved);
  if (known) return known;
  const ids = { serverId: serverId.toHexString(), userId: prover._id.toHexString() };
  return proofOf(await answerNow(deps, moved === 'second' ? 'check-second' : 'check-move', ids));
}

function proofOf(ended: QuestionResult<ProofAnswer>): ProofEnded {
  if (ended.kind !== 'answered') return ended;
  const { result } = ended;
  return result.kind === 'listed' ? { kind: 'listed', serverId: new ObjectId(result.serverId) } : result;
}
