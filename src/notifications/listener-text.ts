import { explain } from '../delivery/diagnosis/explain.ts';
import { type ListenerReason, listenerReason } from '../delivery/diagnosis/listener-reason.ts';
import type { EventText } from '../events/event.ts';
import { notificationTime, numberText, votes } from '../events/event-text.ts';
import { t } from '../language/t.ts';
import { DELIVERY_EXPIRES_HOURS, RESENDABLE_DAYS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { Attempt } from '../votes/vote.ts';
import type { DeliveryCounts } from './delivery-counts.ts';
import type { DueNotification } from './due-notifications.ts';
import { EVENTS } from './kinds.ts';
import type { Notification } from './notification-text.ts';

export function listenerNotification(of: ListenerState, due: DueNotification): Notification {
  const { kind: name, since } = due;
  const textFor = (showsReplies: boolean): EventText => ({
    ...TEXTS[name]({ ...of, showsReplies }, due),
    part: '/listener',
  });
  const expiry = of.expiresAt ? { expires_at: of.expiresAt.toISOString() } : {};
  return {
    name,
    about: `${of.listener._id.toHexString()}:${since.getTime()}`,
    mail: () => textFor(true),
    text: textFor(false),
    data: {
      since: since.toISOString(),
      ...(EVENTS[name].type === 'listener.down' ? { reason: name } : {}),
      ...(name === 'expiring' ? expiry : {}),
    },
  };
}

type Telling = ListenerState & {
  /** The listener's replies are quoted. */
  showsReplies: boolean;
};

type MakeText = (state: Telling, due: DueNotification) => Pick<EventText, 'subject' | 'paragraphs'>;

const NOT_FETCHED = explain('not-fetched', 'fetch');

const hours = DELIVERY_EXPIRES_HOURS;

const TEXTS: Record<DueNotification['kind'], MakeText> = {
  paused: (notification, { since }) => ({
    subject: t('its vote listener is paused'),
    paragraphs: [
      t('The vote listener of {name} does not accept votes. Delivery is paused since {time}.', {
        name: notification.server.name,
        time: notificationTime(since),
      }),
      ...reason(notification),
      sentences(
        waiting(notification),
        t(
          'Votes are kept for {hours} hours after they were cast. They are sent as soon as you have corrected the listener and resumed it here:',
          { hours },
        ),
      ),
    ],
  }),
  unreachable: (notification, { since }) => ({
    subject: t('its vote listener cannot be reached'),
    paragraphs: [
      t('We have not been able to reach the vote listener of {name} since {time}.', {
        name: notification.server.name,
        time: notificationTime(since),
      }),
      ...reason(notification),
      sentences(
        waiting(notification),
        t(
          'We keep trying and send the votes as soon as the listener answers, up to {hours} hours after they were cast. The listener’s page:',
          { hours },
        ),
      ),
    ],
  }),
  unfetched: (notification, { since }) => {
    const { name } = notification.server;
    return {
      subject: t('nobody fetches its votes'),
      paragraphs: [
        notification.listener.fetched
          ? t('Nobody has fetched the votes of {name} since {time}.', { name, time: notificationTime(since) })
          : t('Nobody has fetched the votes of {name} yet.', { name }),
        t(NOT_FETCHED.advice),
        sentences(
          waiting(notification),
          t(
            'Votes are kept for {hours} hours after they were cast, and go out as soon as your server fetches them. The listener’s page:',
            { hours },
          ),
        ),
      ],
    };
  },
  'fetched-again': (notification, { since }) => ({
    subject: t('its votes are fetched again'),
    paragraphs: [
      t('The votes of {name} are fetched again, after nobody fetched them from {time} on.', {
        name: notification.server.name,
        time: notificationTime(since),
      }),
      t('The listener’s page:'),
    ],
  }),
  expiring: (notification) => {
    const { server, deliveries, expiresAt } = notification;
    return {
      subject: t('votes are about to be given up'),
      paragraphs: [
        sentences(
          t(
            '{waiting, plural, one {# vote waits} other {# votes wait}} for the vote listener of {name}. A vote that could not be delivered within {hours} hours is given up.',
            { waiting: deliveries.waiting, name: server.name, hours },
          ),
          expiresAt ? t('The first one: on {time}.', { time: notificationTime(expiresAt) }) : '',
        ),
        ...reason(notification),
        t('You can send these votes again by hand for {days} days. The listener’s page:', {
          days: RESENDABLE_DAYS,
        }),
      ],
    };
  },
  returned: (notification, { since }) => ({
    subject: t('its vote listener is back'),
    paragraphs: [
      t('The vote listener of {name} takes votes again, after an outage that began on {time}.', {
        name: notification.server.name,
        time: notificationTime(since),
      }),
      delayedVotesText(notification),
      t('The listener’s page:'),
    ],
  }),
};

function sentences(...all: string[]): string {
  return all.filter(Boolean).join(' ');
}

function reason({ listener, lastAttempt, showsReplies }: Telling): string[] {
  const found = listenerReason(listener);
  const shown = showsReplies ? explained : withoutReply;
  if (found) return [shown(found)];
  if (listener.limited) return [t(explain('outgoing-limited', listener.protocol).cause)];
  // If votes are fetched but not accepted, there is no outage. The reason is the last outcome of the first vote.
  if (listener.protocol !== 'fetch' || !lastAttempt?.code) return [];
  const { code, words } = lastAttempt;
  return [`${t('The first of these:')} ${shown({ ...explain(code, 'fetch'), ...(words ? { words } : {}) })}`];
}

function explained({
  cause,
  advice,
  words,
  detail,
}: Pick<ListenerReason, 'cause' | 'advice' | 'words' | 'detail'>): string {
  const answer = words ? ` ${t('Its answer: “{words}”', { words })}` : '';
  return `${t(cause)}${answer}${detail ? ` (${detail})` : ''}\n${t(advice)}`;
}

function withoutReply({ cause, advice }: Pick<ListenerReason, 'cause' | 'advice'>): string {
  return explained({ cause, advice });
}

function waiting({ deliveries: { waiting } }: ListenerState): string {
  return t(
    '{waiting, plural, =0 {No vote is waiting yet.} one {# vote is waiting.} other {# votes are waiting.}}',
    { waiting },
  );
}

function delayedVotesText({ deliveries: { arrived, waiting, lost } }: ListenerState): string {
  const total = arrived + waiting + lost;
  if (total === 0) return t('No vote had to wait.');
  if (arrived === total)
    return t(
      '{total, plural, one {# vote waited; it has arrived.} other {# votes waited; all have arrived.}}',
      {
        total,
      },
    );
  const parts = [
    t('{arrived, plural, one {# has arrived} other {# have arrived}}', { arrived }),
    waiting > 0
      ? t('{waiting, plural, one {# is still being sent} other {# are still being sent}}', { waiting })
      : '',
    lost > 0
      ? t('{number} could not be delivered or confirmed, and can be sent again by hand', {
          number: numberText(lost),
        })
      : '',
  ].filter(Boolean);
  return t('{votes} waited: {parts}.', { votes: votes(total), parts: parts.join('; ') });
}

export type ListenerState = {
  listener: Listener;
  server: Server;
  deliveries: DeliveryCounts;
  expiresAt: Date | null;
  /** The last attempt of that vote; null if it was not sent yet. */
  lastAttempt: Pick<Attempt, 'code' | 'words'> | null;
};
