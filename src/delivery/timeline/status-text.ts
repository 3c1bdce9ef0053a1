import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Arrival } from '../../votes/arrival.ts';
import type { DeliveryStatus, VoteTimeline } from './timeline-event.ts';
import { MOST_AHEAD } from './vote-timeline.ts';

/** `next` writes how long it is until then. */
export type StatusTimes = { on: (at: Date) => string; next: (at: Date) => string };

type Waiting = Extract<DeliveryStatus, { state: 'waiting' }>;

/** `queuePaused`: an operator has paused delivery for all servers; null when that is unknown. */
export function statusText(
  status: DeliveryStatus,
  times: StatusTimes,
  queuePaused: boolean | null,
  {
    arrival = 'surely-not',
    mayHaveArrivedTwice,
    nameMayBeMangled,
  }: Partial<Pick<VoteTimeline, 'arrival' | 'mayHaveArrivedTwice' | 'nameMayBeMangled'>> = {},
): string {
  return [
    ...sentences(status, times, queuePaused),
    ...(mayHaveArrivedTwice ? [t('It may have arrived more than once.')] : earlierText(status, arrival)),
    ...(nameMayBeMangled
      ? [t('Its name may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps it.')]
      : []),
  ].join(' ');
}

/** An earlier sending of a vote whose state does not say it. */
function earlierText({ state }: DeliveryStatus, arrival: Arrival): string[] {
  if (state === 'delivered' || arrival === 'surely-not') return [];
  if (arrival === 'arrived') return [t('An earlier sending arrived.')];
  return state === 'unconfirmed' || state === 'sending' ? [] : [t('It may have arrived before.')];
}

function sentences(status: DeliveryStatus, times: StatusTimes, queuePaused: boolean | null): string[] {
  switch (status.state) {
    case 'none':
      return [t(NONE[status.why])];
    case 'waiting': {
      const { reason, givenUpAt } = status;
      return [
        waitingText(status, times, queuePaused),
        ...(queuePaused && isDelayedByPause(status) ? [t(QUEUE_PAUSED)] : []),
        ...(reason ? [t(reason.cause)] : []),
        ...(givenUpAt ? [t('It expires {time}.', { time: times.next(givenUpAt) })] : []),
      ];
    }
    case 'sending':
      return [
        status.fetched
          ? t('The server fetched it. The program that fetched it has not reported a result yet.')
          : t('An attempt is in progress.'),
      ];
    case 'delivered': {
      const kind = status.confirmed === false ? 'sent' : status.confirmed ? 'confirmed' : 'delivered';
      const { plain, on } = (status.fetched ? FETCHED : DELIVERED)[kind];
      return [status.at ? t(on, { time: times.on(status.at) }) : t(plain)];
    }
    case 'unconfirmed':
      return [
        t(UNCONFIRMED[status.fetched && status.why === 'no-answer' ? 'fetched' : status.why]),
        ...resendableText(status.resendableUntil, times),
      ];
    case 'failed': {
      const text = status.cause ? t(status.cause) : t(FAILED[status.why]);
      return [text, ...resendableText(status.resendableUntil, times)];
    }
  }
}

/** `turn` is left out, because its text names the pause. */
function isDelayedByPause({ waitingFor: { kind }, fetched }: Waiting): boolean {
  return !fetched && (kind === 'listener-test' || kind === 'own-retry' || kind === 'outgoing-limit');
}

const QUEUE_PAUSED = defineMessage('The operator of this listing has paused vote delivery for all servers.');

function resendableText(until: Date | null, times: StatusTimes): string[] {
  return until ? [t('It can be sent again until {time}.', { time: times.on(until) })] : [];
}

const DELIVERED = {
  confirmed: {
    plain: defineMessage('Delivered and confirmed by the listener.'),
    on: defineMessage('Delivered on {time} and confirmed by the listener.'),
  },
  delivered: { plain: defineMessage('Delivered.'), on: defineMessage('Delivered on {time}.') },
  sent: {
    plain: defineMessage(
      'Sent, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.',
    ),
    on: defineMessage(
      'Sent on {time}, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.',
    ),
  },
};

const FETCHED = {
  ...DELIVERED,
  confirmed: {
    plain: defineMessage('Fetched and delivered: the program that fetched it confirmed this.'),
    on: defineMessage('Fetched and delivered on {time}: the program that fetched it confirmed this.'),
  },
  sent: {
    plain: defineMessage('Fetched and handed to a plugin that confirms nothing, such as Votifier v1.'),
    on: defineMessage(
      'Fetched, and handed on {time} to a plugin that confirms nothing, such as Votifier v1.',
    ),
  },
};

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], Text> = {
  imported: defineMessage('This vote was imported. Imported votes are never forwarded.'),
  quarantined: defineMessage(
    'This vote is quarantined: it looks unusual, and the operator of this listing decides whether it counts and is delivered.',
  ),
  excluded: defineMessage('The operator of this listing excluded this vote before it was delivered.'),
  'no-listener': defineMessage(
    'The server had no vote listener when this vote was cast, or its plugins claim the votes. It can be sent when there is a listener.',
  ),
  'listener-removed': defineMessage(
    'The vote listener was removed while this vote waited. It can be sent when there is one again.',
  ),
};

const UNCONFIRMED: Record<Extract<DeliveryStatus, { state: 'unconfirmed' }>['why'] | 'fetched', Text> = {
  fetched: defineMessage(
    'Fetched, but nobody knows whether it reached the game: the program that fetched it reported no result, or did not know. It is not handed out again automatically.',
  ),
  restored: defineMessage(
    'Restored from a backup. It may have arrived since the backup. It is not sent again automatically.',
  ),
  'server-error': defineMessage(
    'Sent, but the website answered with an error of its server (HTTP 5xx or 408). It may have arrived. It is not sent again automatically.',
  ),
  'no-answer': defineMessage(
    'Sent, but the listener did not answer. It may have arrived. It is not sent again automatically.',
  ),
};

const FAILED: Record<Extract<DeliveryStatus, { state: 'failed' }>['why'], Text> = {
  refused: defineMessage('The listener refused this vote.'),
  expired: defineMessage('It expired before it could be delivered.'),
  'server-removed': defineMessage('The server was removed.'),
};

function waitingText(
  { waitingFor, ahead, fetched }: Waiting,
  { next }: StatusTimes,
  queuePaused: boolean | null,
): string {
  switch (waitingFor.kind) {
    case 'no-listener':
      return t('The listener was removed, so the vote leaves the queue.');
    case 'resume':
      return t('Waiting until the listener is resumed.');
    case 'listener-test':
      return t('Waiting for the listener, which is unreachable. Next test {time}.', {
        time: next(waitingFor.at),
      });
    case 'outgoing-limit':
      return t(
        'It will be sent {time}. The number of connections per minute is limited until the listener acknowledges its first vote.',
        { time: next(waitingFor.at) },
      );
    case 'own-retry':
      if (fetched) return t('The server can fetch it again {time}.', { time: next(waitingFor.at) });
      return t('Waiting for its next attempt, {time}.', { time: next(waitingFor.at) });
    case 'take':
      return t('Waiting until the server fetches it.');
    case 'turn':
      if (queuePaused)
        return t('Waiting: the operator of this listing has paused vote delivery for all servers.');
      if (ahead === null) return t('Waiting in the queue.');
      if (ahead === 0) return t('Next in the queue.');
      return ahead === MOST_AHEAD
        ? t('Waiting in the queue, with at least {votes} votes before it.', { votes: ahead })
        : t('Waiting in the queue, with {votes, plural, one {# vote} other {# votes}} before it.', {
            votes: ahead,
          });
  }
}
