import type { Listener, ListenerProof } from '../listeners/listener.ts';
import { confirmsVotes, hasAcknowledged, nextAnswerStep } from '../listeners/listener-state.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { MINUTE } from '../platform/clock.ts';
import { newVoteId } from '../votes/cast/cast-vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { Destination, withListenerProof } from './destination.ts';
import type { OnStep } from './diagnosis/diagnosis.ts';
import { asRefusalOfAll, asRefusalOfOne } from './http/http-answer.ts';
import { openListener, type SendVote } from './send-vote.ts';
import { TEST_USERNAME } from './vote-message.ts';

export type TestDeps = DeliveryDeps & { send: SendVote };

export type ListenerTest = Outcome & {
  at: Date;
  durationMs: number;
  destination: Destination;
  proven: ListenerProof[] | undefined;
};

/**
 * Sends one marked test vote, even to a paused or unreachable listener, and stores the outcome unless the settings have
 * changed meanwhile. Neither pause nor breaker changes. If it proves the address, a limit is removed.
 *
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function sendTestVote(
  deps: TestDeps,
  listener: Listener,
  { accountId = null, onStep }: { accountId?: string | null; onStep?: OnStep | undefined } = {},
): Promise<ListenerTest> {
  const now = deps.clock.now();
  const { serverId, _id, revision } = listener;
  const destination = new Destination(deps, listener, { accountId, isTest: true });
  const began = performance.now();
  const outcome = await deps.send(
    openListener(deps.secrets, listener),
    { _id: newVoteId(now), username: TEST_USERNAME, votedAt: now },
    {
      signal: AbortSignal.timeout(MINUTE),
      waitSignal: AbortSignal.timeout(MINUTE),
      // A test waits for the answer as long as a vote does.
      answerStep: nextAnswerStep(listener),
      confirmsVotes: confirmsVotes(listener),
      mayWrite: () => true,
      destination,
      onStep,
      // A test sends a challenge before its vote, so the website has just accepted our messages.
      onRefusal: async (refused) =>
        hasAcknowledged(listener) ? asRefusalOfOne(refused) : asRefusalOfAll(refused),
    },
  );
  const durationMs = Math.round(performance.now() - began);
  const { proof } = destination;
  const proved = proof && { proven: withListenerProof(listener.proven, proof), limited: null };
  await deps.listeners.updateOne(
    { serverId, _id, revision },
    { $set: { tested: { at: now, code: outcome.code }, ...proved } },
  );
  return { ...outcome, at: now, durationMs, destination, proven: proved?.proven ?? listener.proven };
}
