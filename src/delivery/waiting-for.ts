import type { Listener } from '../listeners/listener.ts';
import type { Vote } from '../votes/vote.ts';

/**
 * What a waiting vote waits for.
 *
 * - `resume`: its listener is paused.
 * - `listener-test`: its listener is unreachable, and one vote tests it at `at`.
 * - `outgoing-limit`: its listener has not proven its address, and a limit allows no further connection before `at`.
 * - `own-retry`: its own next attempt is due at `at`.
 * - `take`: the game server fetches its votes and has not taken this one yet.
 * - `no-listener`: its listener was removed, and the vote will soon be removed from the queue.
 * - `turn`: a worker sends it after the votes before it in the queue, at once if there are none.
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
  const { limited, breaker } = listener;
  if (limited && limited.until > now) return { kind: 'outgoing-limit', at: limited.until };
  if (breaker.openSince) return { kind: 'listener-test', at: breaker.nextTestAt ?? now };
  if (delivery.nextAt && delivery.nextAt > now) return { kind: 'own-retry', at: delivery.nextAt };
  return { kind: listener.protocol === 'fetch' ? 'take' : 'turn' };
}
