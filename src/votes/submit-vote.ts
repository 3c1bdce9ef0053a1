import type { UUID } from 'mongodb';
import { DeadlineError, within } from '../platform/deadline.ts';
import type { Span } from '../platform/tracing/tracing.ts';
import { type CastRequest, castVote, type Refused, VoteResultUnknownError } from './cast-vote.ts';
import { castVoteOnce, type KeyReused, type OnceDeps } from './cast-vote-once.ts';
import { nextVoteAt } from './cooldown.ts';
import { nextVoteAtOf, writeAnswer } from './vote-answer.ts';

export { VoteResultUnknownError };

/** A vote as a client submits it. */
export type VoteSubmission = CastRequest & {
  /** The `Idempotency-Key`, 1 to 255 visible ASCII characters; undefined without one. */
  key: string | undefined;
};

export type Submitted = {
  kind: 'accepted';
  voteId: UUID;
  nextVoteAt: Date;
  /** JSON (`VoteAnswer`); for a replay it is the first answer byte for byte. */
  body: string;
  /** An earlier request with the same key was accepted, and this one cast nothing. */
  replayed: boolean;
};

/**
 * Casts a vote, under its idempotency key where it has one, within `timeoutMs` milliseconds. After that time no vote
 * is sent any more. The result of a vote that was sent by then is unknown.
 *
 * @throws {DeadlineError} when the time is over and nothing was cast
 * @throws {VoteResultUnknownError} when the vote may have been cast
 * @throws the driver's error when the database failed before the vote was sent
 */
export async function submitVote(
  deps: OnceDeps,
  submission: VoteSubmission,
  timeoutMs: number,
): Promise<Submitted | Refused | KeyReused> {
  const progress = { isSent: false, isExpired: false };
  const sending = () => {
    // The client was told that nothing was cast: this must stay true.
    if (progress.isExpired) throw new DeadlineError(timeoutMs);
    progress.isSent = true;
  };
  try {
    return await within(timeoutMs, submitTraced(deps, submission, sending));
  } catch (error) {
    if (progress.isSent && error instanceof DeadlineError) throw new VoteResultUnknownError(error);
    progress.isExpired = !progress.isSent;
    throw error;
  }
}

/** In a span of its own, which also records what happens after the deadline. */
function submitTraced(
  deps: OnceDeps,
  submission: VoteSubmission,
  sending: () => void,
): Promise<Submitted | Refused | KeyReused> {
  const attributes = { 'tallyport.server.id': submission.serverId.toHexString() };
  return deps.tracing.run({ name: 'cast vote', attributes }, async (span) => {
    const end = await submit(deps, submission, sending);
    noteResult(span, end);
    return end;
  });
}

function noteResult(span: Span, end: Submitted | Refused | KeyReused): void {
  const isReplayed = end.kind === 'accepted' && end.replayed;
  span.set({ 'tallyport.vote.result': isReplayed ? 'replayed' : end.kind });
  if (end.kind === 'accepted') span.set({ 'tallyport.vote.id': end.voteId.toString() });
}

async function submit(
  deps: OnceDeps,
  submission: VoteSubmission,
  sending: () => void,
): Promise<Submitted | Refused | KeyReused> {
  const { key } = submission;
  if (key === undefined) {
    const end = await castVote(deps, submission, undefined, sending);
    if (end.kind === 'refused') return end;
    const { vote } = end;
    return {
      kind: 'accepted',
      voteId: vote._id,
      nextVoteAt: nextVoteAt(vote),
      body: writeAnswer(end),
      replayed: false,
    };
  }
  const end = await castVoteOnce(deps, { ...submission, key }, writeAnswer, sending);
  if (end.kind !== 'answer') return end;
  const { voteId, body, replayed } = end;
  return { kind: 'accepted', voteId, nextVoteAt: nextVoteAtOf(body), body, replayed };
}
