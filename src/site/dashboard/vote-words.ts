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

/** A vote's state; one that nobody said to have arrived is not called delivered. */
export function stateBadge({ delivery }: Pick<Vote, 'delivery'>): Html {
  const { state } = delivery;
  return isConfirmed(delivery) === false
    ? badge('quiet', STATE_WORDS['sent-not-confirmed'])
    : badge(TONES[state], STATE_WORDS[state]);
}

/** What a vote waits for, or how it ended, in a few words. `vote` has its newest attempt at least. */
export function inFewWords(
  vote: Vote,
  listener: Pick<Listener, 'pause' | 'breaker' | 'limited'> | null,
  now: Date,
): string {
  const { delivery, votedAt } = vote;
  const newest = delivery.attempts.at(-1);
  switch (delivery.state) {
    case 'none':
      return isImported(vote) ? 'imported: cast elsewhere' : 'there was no vote listener';
    case 'waiting':
      return waitsFor(vote, listener, now);
    case 'sending':
      return newest ? `attempt ${delivery.attemptCount}` : '';
    case 'delivered': {
      if (isConfirmed(delivery) === false) return 'the listener closed without an answer';
      // How long the first one took is on the vote's own page.
      if (newest?.wokenBy === 'resend') return 'confirmed, sent again by hand';
      const tries = delivery.attemptCount > 1 ? ` at the ${ordinal(delivery.attemptCount)} attempt` : '';
      const took = delivery.deliveredAt
        ? ` after ${duration(delivery.deliveredAt.getTime() - votedAt.getTime())}`
        : '';
      return `confirmed${took}${tries}`;
    }
    case 'unconfirmed':
      return `sent ${counted(delivery.attemptCount, 'time')}, never answered: it may have arrived`;
    case 'failed':
      return newest?.class === 'vote-only' && newest.code
        ? explain(newest.code, newest.protocol).cause
        : 'it could not be delivered in time';
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
      return `for the listener, tested ${relative(waits.at, now)}`;
    case 'outgoing-limit':
      return `limited until its listener acknowledges; sent ${relative(waits.at, now)}`;
    case 'own-retry':
      return `for its next attempt, ${relative(waits.at, now)}`;
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
