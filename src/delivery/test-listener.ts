import { type Clock, MINUTE } from '../clock.ts';
import type { SecretBox } from '../secrets.ts';
import { newVoteId } from '../votes/cast-vote.ts';
import type { OnStep } from './diagnosis-steps.ts';
import type { Listener } from './listener.ts';
import type { Outcome } from './outcomes.ts';
import { openListener, type Send } from './send-vote.ts';

/** The player of a test vote: its owner sees at once that nobody real voted. */
export const TEST_USERNAME = 'TallyportTest';

/** What sending a test vote works on. */
export type Testing = { secrets: SecretBox; clock: Clock; send: Send };

/** The end of a test vote, and how long it took in milliseconds. */
export type ListenerTest = Outcome & { durationMs: number };

/**
 * Sends one marked test vote to a listener, whatever its state, and says how it ended. It is counted nowhere and
 * changes neither pause nor breaker.
 *
 * @param onStep - is told how far it is
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function sendTestVote(
  deps: Testing,
  listener: Listener,
  onStep?: OnStep,
): Promise<ListenerTest> {
  const now = deps.clock.now();
  const began = performance.now();
  const end = await deps.send(
    openListener(deps.secrets, listener),
    { _id: newVoteId(now), username: TEST_USERNAME, votedAt: now },
    {
      signal: AbortSignal.timeout(MINUTE),
      waitSignal: AbortSignal.timeout(MINUTE),
      // As long as its votes are waited for.
      answerStep: listener.answerStep ?? 0,
      mayWrite: () => true,
      onStep,
    },
  );
  return { ...end, durationMs: Math.round(performance.now() - began) };
}
