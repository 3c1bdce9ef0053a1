import { explain } from '../../delivery/diagnosis/explanations.ts';
import { waitingFor } from '../../delivery/waiting-for.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import { isConfirmed, type VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { type DeliveryState, isImported, type Vote } from '../../votes/vote.ts';
import { counted, duration, relative } from './format.ts';
import type { Html } from './html.ts';
import { badge, type Tone } from './parts.ts';

/** The names of the states. */
export const STATE_TEXTS: Record<VoteSelection, Text> = {
  none: defineMessage('not forwarded'),
  waiting: defineMessage('waiting'),
  sending: defineMessage('being sent'),
  delivered: defineMessage('delivered'),
  unconfirmed: defineMessage('unconfirmed'),
  failed: defineMessage('failed'),
  'sent-not-confirmed': defineMessage('sent, not confirmed'),
};

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
    ? badge('quiet', t(STATE_TEXTS['sent-not-confirmed']))
    : badge(TONES[state], t(STATE_TEXTS[state]));
}

/** What a vote waits for, or its outcome, in a few words. `vote` must include its newest attempt. */
export function stateText(
  vote: Vote,
  listener: Pick<Listener, 'pause' | 'breaker' | 'limited'> | null,
  now: Date,
): string {
  const { delivery, votedAt } = vote;
  const newest = delivery.attempts.at(-1);
  switch (delivery.state) {
    case 'none':
      if (isImported(vote)) return t('imported');
      return vote.quarantinedAt ? t('quarantined') : t('no vote listener at that time');
    case 'waiting':
      return waitsFor(vote, listener, now);
    case 'sending':
      return newest ? t('attempt {number}', { number: delivery.attemptCount }) : '';
    case 'delivered': {
      if (isConfirmed(delivery) === false) return t('the listener closed without an answer');
      // The vote's own page shows the duration of the first attempt.
      if (newest?.wokenBy === 'resend') return t('confirmed after a manual resend');
      const tries =
        delivery.attemptCount > 1
          ? ` ${t('on the {number, selectordinal, one {#st} two {#nd} few {#rd} other {#th}} attempt', { number: delivery.attemptCount })}`
          : '';
      const took = delivery.deliveredAt
        ? ` ${t('after {duration}', { duration: duration(delivery.deliveredAt.getTime() - votedAt.getTime()) })}`
        : '';
      return `${t('confirmed')}${took}${tries}`;
    }
    case 'unconfirmed':
      return t('sent {times}, no answer; may have arrived', {
        times: counted(delivery.attemptCount, 'time'),
      });
    case 'failed':
      return newest?.class === 'vote-only' && newest.code
        ? t(explain(newest.code, newest.protocol).cause)
        : t('expired before it could be delivered');
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
      return t('for the listener to be resumed');
    case 'listener-test':
      return t('for the listener; next test {time}', { time: relative(waits.at, now) });
    case 'outgoing-limit':
      return t('rate-limited; sent {time}', { time: relative(waits.at, now) });
    case 'own-retry':
      return t('for the next attempt, {time}', { time: relative(waits.at, now) });
    case 'no-listener':
      return t('the listener was removed');
    default:
      return t('in the queue');
  }
}
