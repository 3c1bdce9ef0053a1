import type { ObjectId, UUID } from 'mongodb';
import { DeadlineError, within } from '../../platform/deadline.ts';
import type { Span, Tracing } from '../../platform/tracing/tracing.ts';
import { VoteResultUnknownError } from './insert-vote.ts';

/**
 * The adapter creates it for its request; it reaches the insert. If it passes before `allowInsert`, no insert begins.
 * If later, the vote may still be inserted: the result is unknown.
 */
export class CastDeadline {
  readonly #timeoutMs: number;
  readonly #endsAt: number;
  #mayBeInserted = false;
  #isExpired = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** For work that casts nothing, which is not cancelled. @throws {DeadlineError} */
  wait<T>(work: Promise<T>): Promise<T> {
    return within(this.#endsAt - performance.now(), work);
  }

  /**
   * Must be called right before the vote may be inserted, by this request or another one with the same key.
   *
   * @throws {DeadlineError} if the client was told that nothing was cast, which must stay true
   */
  allowInsert(): void {
    if (this.#isExpired) throw new DeadlineError(this.#timeoutMs);
    this.#mayBeInserted = true;
  }

  /** For work that calls `allowInsert`. @throws {VoteResultUnknownError} when the vote may have been cast */
  async waitForCast<T>(cast: Promise<T>): Promise<T> {
    try {
      return await this.wait(cast);
    } catch (error) {
      if (this.#mayBeInserted && error instanceof DeadlineError) throw new VoteResultUnknownError(error);
      this.#isExpired = !this.#mayBeInserted;
      throw error;
    }
  }
}

type CastResult = { kind: 'accepted'; voteId: UUID; replayed?: boolean } | { kind: 'refused' | 'key-reused' };

/** In a trace span of its own, which also records what happens after the deadline. Throws as `waitForCast`. */
export function castWithinDeadline<T extends CastResult>(
  { tracing }: { tracing: Tracing },
  serverId: ObjectId,
  deadline: CastDeadline,
  cast: () => Promise<T>,
): Promise<T> {
  const attributes = { 'tallyport.server.id': serverId.toHexString() };
  const traced = tracing.run({ name: 'cast vote', attributes }, async (span) => {
    const result = await cast();
    noteResult(span, result);
    return result;
  });
  return deadline.waitForCast(traced);
}

function noteResult(span: Span, result: CastResult): void {
  const isReplayed = result.kind === 'accepted' && result.replayed;
  span.set({ 'tallyport.vote.result': isReplayed ? 'replayed' : result.kind });
  if (result.kind === 'accepted') span.set({ 'tallyport.vote.id': result.voteId.toString() });
}
