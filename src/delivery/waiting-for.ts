import type { Listener } from '../listeners/listener.ts';
import type { Vote } from '../votes/vote.ts';

/**
 * `listener-test`: one vote tests the unreachable listener at `at`. `outgoing-limit`: its address is not proven.
 * `take`: the game server fetches. `turn`: a worker sends it after the votes before it in the queue.
 */
export type WaitingFor =
  | { kind: 'resume' | 'no-listener' | 'take' | 'turn' }
  | { kind: 'listener-test' | 'own-retry' | 'outgoing-limit'; at: Date };

/** Null when the vote is not waiting. */
export function waitingFor(
  { delivery }: Pick<Vote, 'delivery'>,
  listener: (Pick<Listener, 'pause' | 'breaker' | 'limited'> & Partial<Pick<Listener, 'protocol'>>) | null,
  now: Date,
): WaitingFor | null {
  if (delivery.state !== 'waiting') return null;
  if (!listener) return { kind: 'no-listener' };
  if (listener.pause) return { kind: 'resume' };
  const { limited, breaker } = listener;
  if (limited && limited.until > now) return { kind: 'outgoing-limit', at: limited.until };
  if (breaker.openSince) return { kind: 'listener-test', at: breaker.nextTestAt ?? now };
  if (delivery.nextAt && delivery.nextAt > now) return { kind: 'own-retry', at: delivery.nextAt };
  return { kind: listener.protocol === 'fetch' ? 'take' : 'turn' };
}
