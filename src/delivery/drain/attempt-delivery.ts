import { attemptLeaseMs } from '../../listeners/delivery-limits.ts';
import type { ListenerProof } from '../../listeners/listener.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import type { Limited } from '../../platform/limits/outgoing-limit.ts';
import { Destination, shownToOwner, withChallenge } from '../destination.ts';
import { answerStepOf, type Taken } from './after-attempt.ts';
import type { DrainDeps, DrainOptions } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';
import { ourFault } from './our-fault.ts';

/** A taken vote, and when taking it began on `performance.now()`: not later than its lease. */
export type Ready = { taken: Taken; takenAt: number };

/** The outcome of an attempt, and what it found out about its destination. */
type Delivered = {
  outcome: Outcome;
  durationMs: number;
  limited: Limited | null;
  proof: ListenerProof | null;
};

/**
 * Makes one attempt to deliver a taken vote. An internal error is an outcome too; never throws.
 *
 * @param accountId - the owner of the listener's server; null when it has none
 */
export async function attemptDelivery(
  deps: Pick<DrainDeps, 'config' | 'log' | 'send' | 'rateLimits' | 'clock'>,
  leased: LeasedListener,
  { taken, takenAt }: Ready,
  {
    stop,
    waitNoLonger,
    accountId,
  }: Pick<DrainOptions, 'stop' | 'waitNoLonger'> & { accountId: string | null },
): Promise<Delivered> {
  const { config, log, send } = deps;
  const began = performance.now();
  const listener = leased.now;
  const destination = new Destination(deps, listener, { accountId });
  const answerStep = answerStepOf(taken);
  const leaseMs = attemptLeaseMs(config, answerStep);
  const attempt = async () => {
    const outcome = await send(leased.opened, taken.vote, {
      destination,
      signal: stop,
      waitSignal: waitNoLonger,
      answerStep,
      // A process that was suspended and resumed must not send votes that another worker has taken over.
      mayWrite: (answerMs) => performance.now() - takenAt + answerMs < leaseMs,
    });
    const { proof } = destination;
    const { protocol, proven } = listener;
    return shownToOwner({ protocol, proven: proof ? withChallenge(proven, proof) : proven }, outcome);
  };
  const outcome = await attempt().catch((error: unknown) => {
    log.error({ event: 'delivery.our_fault', voteId: taken.vote._id.toString(), error: String(error) });
    return ourFault(error);
  });
  const { limited, proof } = destination;
  return { outcome, durationMs: performance.now() - began, limited, proof };
}
