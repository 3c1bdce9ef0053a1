import type { ObjectId, UUID } from 'mongodb';
import { DeadlineError, within } from '../../platform/deadline.ts';
import type { Span, Tracing } from '../../platform/tracing/tracing.ts';
import { VoteResultUnknownError } from './insert-vote.ts';

/**
 * The deadline of one vote. The adapter creates it for its request and gives it to the entry point, which hands it down
 * to the insert. If it passes before `allowInsert` was called: no insert begins. If it passes later: the vote may still
 * be inserted, so the result is unknown.
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

  /**
   * Waits for work that casts nothing. The work is not cancelled.
   *
   * @throws {DeadlineError} when the deadline passes before `work` ends; the error of `work`
   */
  wait<T>(work: Promise<T>): Promise<T> {
    return within(this.#endsAt - performance.now(), work);
  }

  /**
   * Must be called right before the vote may be inserted: by this request, or by another one with the same key.
   *
   * @throws {DeadlineError} if the deadline passed before the first call: the client was told that nothing was cast,
   *   which must stay true
   */
  allowInsert(): void {
    if (this.#isExpired) throw new DeadlineError(this.#timeoutMs);
    this.#mayBeInserted = true;
  }

  /**
   * Waits for work that calls `allowInsert`.
   *
   * @throws {DeadlineError} when the deadline passes and nothing was cast; {VoteResultUnknownError} when the vote may
   *   have been cast; the error of `cast`
   */
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

/**
 * Casts a vote within its deadline, in its own trace span. The span also records what happens after the deadline.
 *
 * @throws as `waitForCast` does
 */
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
