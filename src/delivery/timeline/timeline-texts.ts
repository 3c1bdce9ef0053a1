import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Cause } from '../../listeners/causes.ts';
import type { AttemptEvent, DeliveryStatus, TimelineEvent, VoteTimeline } from './timeline-event.ts';
import { MOST_AHEAD } from './vote-timeline.ts';

/** Formats a moment: pages and terminals do it differently. */
type When = (at: Date) => string;

/** What started an attempt, for a text after “started by”. */
const CAUSE_TEXTS: Record<Cause, Text> = {
  cast: defineMessage('the vote'),
  schedule: defineMessage('its schedule'),
  'challenge-retry': defineMessage('the refused challenge'),
  'given-back': defineMessage('the released attempt'),
  resend: defineMessage('the resend'),
  release: defineMessage('the release from quarantine'),
  'listener-test': defineMessage('the listener’s test'),
  'server-returned': defineMessage('the server’s return'),
  'listener-back': defineMessage('the listener’s return'),
  resume: defineMessage('the resume'),
  'settings-changed': defineMessage('the changed settings'),
};

/** What started an attempt; null when that is not on record. */
export function causeText({ wokenBy, relayed }: Pick<AttemptEvent, 'wokenBy' | 'relayed'>): string | null {
  const cause = wokenBy && t(CAUSE_TEXTS[wokenBy]);
  if (!relayed) return cause;
  return cause ? t('{cause}, found by the relay', { cause }) : t('the relay');
}

/** An event other than an attempt, in one phrase. */
export function eventText(event: Exclude<TimelineEvent, { kind: 'attempt' | 'older-attempts' }>): string {
  switch (event.kind) {
    case 'accepted':
      return t('accepted');
    case 'imported':
      return t('cast elsewhere');
    case 'cooldown-ended':
      return t('the player may vote again, by an operator');
    case 'expired':
      return t('given up: not delivered in time');
    case 'listener-removed':
      return t('removed from the queue: the listener was removed');
    case 'server-removed':
      return t('failed: the server was removed');
    case 'acknowledged-late':
      return event.number === null
        ? t('the acknowledgement came late')
        : t('the acknowledgement of attempt {number} came late', { number: event.number });
    case 'resent':
      return [
        event.by ? t('resent by {by}', { by: event.by }) : t('resent'),
        ...(event.mayArriveTwice ? [t('it may arrive twice')] : []),
      ].join('; ');
    case 'quarantined':
      return event.reason === null
        ? t('quarantined: it looks unusual')
        : t('quarantined: “{reason}”', { reason: event.reason });
    case 'claimed':
      return t('claimed by a plugin (token {token})', { token: event.tokenId });
    case 'released':
      return t('released from quarantine by an operator');
    case 'restored':
      return t('restored from a backup: it may have arrived since the backup');
    case 'excluded':
      return event.reason === null
        ? t('excluded by {by}', { by: event.by })
        : t('excluded by {by}: “{reason}”', { by: event.by, reason: event.reason });
  }
}

/**
 * The status of a vote and its reason, in one sentence without a full stop.
 *
 * @param queuePaused - whether an operator has paused the votes of every server; null when that is unknown
 */
export function statusText(
  { status, mayHaveArrivedTwice }: VoteTimeline,
  when: When,
  queuePaused: boolean | null,
): string {
  const twice = mayHaveArrivedTwice ? '; it may have arrived more than once' : '';
  switch (status.state) {
    case 'none':
      return `none: ${NONE[status.why]}`;
    case 'waiting': {
      const givenUp = status.givenUpAt ? `; given up ${when(status.givenUpAt)}` : '';
      return `waiting ${waitingText(status, when, queuePaused)}${givenUp}`;
    }
    case 'sending':
      return `sending: an attempt is under way${twice}`;
    case 'delivered': {
      const at = status.at ? ` ${when(status.at)}` : '';
      return status.confirmed === false
        ? `sent, not confirmed${at}: the listener closed without an answer, as most do in Votifier v1${twice}`
        : `delivered${at}${twice}`;
    }
    case 'unconfirmed':
      return status.why === 'restored'
        ? 'unconfirmed: restored from a backup; it may have arrived since the backup, and only a resend sends it again'
        : 'unconfirmed: given up without an answer; it may have arrived, and only a resend sends it again';
    case 'failed':
      return `failed: ${FAILED[status.why]}; it can be resent until ${when(status.resendableUntil)}${twice}`;
  }
}

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], string> = {
  imported: 'it was imported, and imported votes are never forwarded',
  quarantined: 'it is quarantined: an operator decides whether it counts and is delivered',
  excluded: 'an operator excluded it before it was delivered',
  'no-listener': 'there was no vote listener; resend it when there is one',
  'listener-removed': 'the vote listener was removed; resend it when there is one again',
};

const FAILED: Record<Extract<DeliveryStatus, { state: 'failed' }>['why'], string> = {
  refused: 'the listener refused it',
  expired: 'it could not be delivered in time',
  'server-removed': 'the server was removed',
};

/** The cause within a sentence. */
function causeOf(reason: Extract<DeliveryStatus, { state: 'waiting' }>['reason']): string | null {
  return reason && t(reason.cause).replace(/\.$/, '');
}

function waitingText(
  { waitingFor, reason, ahead }: Extract<DeliveryStatus, { state: 'waiting' }>,
  when: When,
  queuePaused: boolean | null,
): string {
  switch (waitingFor.kind) {
    case 'no-listener':
      return 'to be removed from the queue: the listener was removed';
    case 'resume':
      return `until the listener is resumed: ${causeOf(reason) ?? 'it is paused'}`;
    case 'listener-test':
      return `for the listener, which is tested ${when(waitingFor.at)}: ${causeOf(reason) ?? 'it is unreachable'}`;
    case 'outgoing-limit':
      return `for its listener, which has not acknowledged a vote yet and is limited until ${when(waitingFor.at)}`;
    case 'own-retry':
      return `for its next attempt, ${when(waitingFor.at)}`;
    case 'turn': {
      if (queuePaused) return 'until the queue is resumed';
      if (ahead === 0) return 'in the queue';
      const votes = ahead === 1 ? '1 vote' : `${ahead} votes`;
      return `in the queue; ${ahead === MOST_AHEAD ? 'at least ' : ''}${votes} before it`;
    }
  }
}
