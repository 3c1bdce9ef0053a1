import type { Collection } from 'mongodb';
import type { Listener, Proof } from '../listeners/listener.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { MINUTE } from '../platform/clock.ts';
import type { OutgoingLimiting } from '../platform/limits/outgoing-limit.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { newVoteId } from '../votes/cast-vote.ts';
import { Destination, withProof } from './destination.ts';
import type { OnStep } from './diagnosis/diagnosis-steps.ts';
import { openListener, type Send } from './send-vote.ts';

/** The player of a test vote: its owner sees at once that nobody real voted. */
export const TEST_USERNAME = 'TallyportTest';

/** What sending a test vote works on. */
export type Testing = OutgoingLimiting & {
  secrets: SecretBox;
  listeners: Collection<Listener>;
  send: Send;
};

/** The end of a test vote, how long it took in milliseconds, where it went and what the listener has proven by now. */
export type ListenerTest = Outcome & {
  durationMs: number;
  destination: Destination;
  proven: Proof[] | undefined;
};

/**
 * Sends one marked test vote to a listener, whatever its state, and says how it ended. It is counted nowhere and
 * changes neither pause nor breaker. What it proves is kept, and ends a limit: an HTTP listener that repeats the
 * challenge is verified.
 *
 * @param accountId - the owner of the listener's server; null where it is nobody's
 * @param onStep - is told how far it is
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function sendTestVote(
  deps: Testing,
  listener: Listener,
  { accountId = null, onStep }: { accountId?: string | null; onStep?: OnStep | undefined } = {},
): Promise<ListenerTest> {
  const now = deps.clock.now();
  const { serverId, _id, revision } = listener;
  const destination = new Destination(deps, listener, { accountId, isTest: true });
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
      destination,
      onStep,
    },
  );
  const durationMs = Math.round(performance.now() - began);
  const { proof } = destination;
  if (!proof) return { ...end, durationMs, destination, proven: listener.proven };
  const proven = withProof(listener.proven, proof);
  await deps.listeners.updateOne({ serverId, _id, revision }, { $set: { proven, limited: null } });
  return { ...end, durationMs, destination, proven };
}
