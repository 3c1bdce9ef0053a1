import type { Listener } from '../listeners/listener.ts';
import type { Vote } from '../votes/vote.ts';

/**
 * What a waiting vote waits for.
 *
 * - `resume`: its listener is paused.
 * - `listener-test`: its listener is unreachable; one vote tests it at `at`.
 * - `outgoing-limit`: its listener has not acknowledged a vote yet, and an allowance of connections is used up until
 *   `at`.
 * - `own-retry`: its own next attempt is due at `at`.
 * - `take`: the game server fetches its votes; it has not taken this one yet.
 * - `no-listener`: its listener was removed, and the vote will soon be taken out of the queue.
 * - `turn`: only the votes before it in the queue, if there are any; then a worker sends it at once.
 */
export type WaitingFor =
  | { kind: 'resume' | 'no-listener' | 'take' | 'turn' }
  | { kind: 'listener-test' | 'own-retry' | 'outgoing-limit'; at: Date };

/** What `vote` waits for; null when it is not waiting. */
export function waitingFor(
  { delivery }: Pick<Vote, 'delivery'>,
  listener: (Pick<Listener, 'pause' | 'breaker' | 'limited'> & Partial<Pick<Listener, 'protocol'>>) | null,
  now: Date,
): WaitingFor | null {
  if (delivery.state !== 'waiting') return null;
  if (!listener) return { kind: 'no-listener' };
  if (listener.pause) return { kind: 'resume' };
  const { limited } = listener;
  if (limited && limited.until > now) return { kind: 'outgoing-limit', at: limited.until };
  const ownTime = delivery.nextAt ?? now;
  if (listener.breaker.openSince) return { kind: 'listener-test', at: listener.breaker.nextTestAt ?? now };
  if (ownTime > now) return { kind: 'own-retry', at: ownTime };
  return { kind: listener.protocol === 'fetch' ? 'take' : 'turn' };
}
