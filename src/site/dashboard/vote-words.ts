import { explain } from '../../delivery/diagnosis/explanations.ts';
import { waitingFor } from '../../delivery/waiting-for.ts';
import type { Listener } from '../../listeners/listener.ts';
import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { type DeliveryState, isImported, type Vote } from '../../votes/vote.ts';
import type { Html } from '../html.ts';
import { badge, type Tone } from '../parts.ts';
import { counted, duration, relative } from '../words.ts';
import { STATE_WORDS } from './vote-filter.ts';

const TONES: Record<DeliveryState, Tone> = {
  none: 'quiet',
  waiting: 'attention',
  sending: 'attention',
  delivered: 'good',
  unconfirmed: 'attention',
  failed: 'bad',
};

/** A vote's state as a badge. A vote without a confirmation is not called delivered. */
export function stateBadge({ delivery }: Pick<Vote, 'delivery'>): Html {
  const { state } = delivery;
  return isConfirmed(delivery) === false
    ? badge('quiet', STATE_WORDS['sent-not-confirmed'])
    : badge(TONES[state], STATE_WORDS[state]);
}

/** What a vote waits for, or its outcome, in a few words. `vote` must include its newest attempt. */
export function inFewWords(
  vote: Vote,
  listener: Pick<Listener, 'pause' | 'breaker' | 'limited'> | null,
  now: Date,
): string {
  const { delivery, votedAt } = vote;
  const newest = delivery.attempts.at(-1);
  switch (delivery.state) {
    case 'none':
      if (isImported(vote)) return 'imported';
      return vote.quarantinedAt ? 'quarantined' : 'no vote listener at that time';
    case 'waiting':
      return waitsFor(vote, listener, now);
    case 'sending':
      return newest ? `attempt ${delivery.attemptCount}` : '';
    case 'delivered': {
      if (isConfirmed(delivery) === false) return 'the listener closed without an answer';
      // The vote's own page shows the duration of the first attempt.
      if (newest?.wokenBy === 'resend') return 'confirmed after a manual resend';
      const tries = delivery.attemptCount > 1 ? ` on the ${ordinal(delivery.attemptCount)} attempt` : '';
      const took = delivery.deliveredAt
        ? ` after ${duration(delivery.deliveredAt.getTime() - votedAt.getTime())}`
        : '';
      return `confirmed${took}${tries}`;
    }
    case 'unconfirmed':
      return `sent ${counted(delivery.attemptCount, 'time')}, no answer; may have arrived`;
    case 'failed':
      return newest?.class === 'vote-only' && newest.code
        ? explain(newest.code, newest.protocol).cause
        : 'expired before it could be delivered';
  }
}

function waitsFor(
  vote: Vote,
  listener: Pick<Listener, 'pause' | 'breaker' | 'limited'> | null,
  now: Date,
): string {
  const waits = waitingFor(vote, listener, now);
  switch (waits?.kind) {
    case 'resume':
      return 'for the listener to be resumed';
    case 'listener-test':
      return `for the listener; next test ${relative(waits.at, now)}`;
    case 'outgoing-limit':
      return `rate-limited; sent ${relative(waits.at, now)}`;
    case 'own-retry':
      return `for the next attempt, ${relative(waits.at, now)}`;
    case 'no-listener':
      return 'the listener was removed';
    default:
      return 'in the queue';
  }
}

function ordinal(n: number): string {
  const teens = n % 100 >= 11 && n % 100 <= 13;
  return `${n}${teens ? 'th' : (({ 1: 'st', 2: 'nd', 3: 'rd' } as Record<number, string>)[n % 10] ?? 'th')}`;
}
