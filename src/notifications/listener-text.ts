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

/** A sentence about votes whose verb agrees: `1 vote waits`, `37 votes wait`. */
function votesDo(number: number, one: string, many: string): string {
  return `${votes(number)} ${number === 1 ? one : many}`;
}

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
    mail: textFor(true),
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

const TEXTS: Record<DueNotification['kind'], MakeText> = {
  paused: (notification, { since }) => ({
    subject: 'its vote listener is paused',
    paragraphs: [
      `The vote listener of ${notification.server.name} does not accept votes. Delivery is paused since ${notificationTime(since)}.`,
      ...reason(notification),
      `${waiting(notification)} Votes are kept for ${DELIVERY_EXPIRES_HOURS} hours after they were cast. They are sent as soon as you have corrected the listener and resumed it here:`,
    ],
  }),
  unreachable: (notification, { since }) => ({
    subject: 'its vote listener cannot be reached',
    paragraphs: [
      `We have not been able to reach the vote listener of ${notification.server.name} since ${notificationTime(since)}.`,
      ...reason(notification),
      `${waiting(notification)} We keep trying and send the votes as soon as the listener answers, up to ${DELIVERY_EXPIRES_HOURS} hours after they were cast. The listener’s page:`,
    ],
  }),
  unfetched: (notification, { since }) => ({
    subject: 'nobody fetches its votes',
    paragraphs: [
      notification.listener.fetched
        ? `Nobody has fetched the votes of ${notification.server.name} since ${notificationTime(since)}.`
        : `Nobody has fetched the votes of ${notification.server.name} yet.`,
      t(NOT_FETCHED.advice),
      `${waiting(notification)} Votes are kept for ${DELIVERY_EXPIRES_HOURS} hours after they were cast, and go out as soon as your server fetches them. The listener’s page:`,
    ],
  }),
  'fetched-again': (notification, { since }) => ({
    subject: 'its votes are fetched again',
    paragraphs: [
      `The votes of ${notification.server.name} are fetched again, after nobody fetched them from ${notificationTime(since)} on.`,
      'The listener’s page:',
    ],
  }),
  expiring: (notification) => ({
    subject: 'votes are about to be given up',
    paragraphs: [
      `${votesDo(notification.deliveries.waiting, 'waits', 'wait')} for the vote listener of ${notification.server.name}. A vote that could not be delivered within ${DELIVERY_EXPIRES_HOURS} hours is given up${notification.expiresAt ? `, the first of these on ${notificationTime(notification.expiresAt)}` : ''}.`,
      ...reason(notification),
      `You can send these votes again by hand for ${RESENDABLE_DAYS} days. The listener’s page:`,
    ],
  }),
  returned: (notification, { since }) => ({
    subject: 'its vote listener is back',
    paragraphs: [
      `The vote listener of ${notification.server.name} takes votes again, after an outage that began on ${notificationTime(since)}.`,
      delayedVotesText(notification),
      'The listener’s page:',
    ],
  }),
};

function reason({ listener, lastAttempt, showsReplies }: Telling): string[] {
  const found = listenerReason(listener);
  const shown = showsReplies ? explained : withoutReply;
  if (found) return [shown(found)];
  if (listener.limited) return [t(explain('outgoing-limited', listener.protocol).cause)];
  // If votes are fetched but not accepted, there is no outage. The reason is the last outcome of the first vote.
  if (listener.protocol !== 'fetch' || !lastAttempt?.code) return [];
  const { code, words } = lastAttempt;
  return [`The first of these: ${shown({ ...explain(code, 'fetch'), ...(words ? { words } : {}) })}`];
}

function explained({
  cause,
  advice,
  words,
  detail,
}: Pick<ListenerReason, 'cause' | 'advice' | 'words' | 'detail'>): string {
  return `${t(cause)}${words ? ` Its answer: “${words}”` : ''}${detail ? ` (${detail})` : ''}\n${t(advice)}`;
}

function withoutReply({ cause, advice }: Pick<ListenerReason, 'cause' | 'advice'>): string {
  return explained({ cause, advice });
}

function waiting({ deliveries }: ListenerState): string {
  return deliveries.waiting === 0
    ? 'No vote is waiting yet.'
    : votesDo(deliveries.waiting, 'is waiting.', 'are waiting.');
}

function delayedVotesText({ deliveries: { arrived, waiting, lost } }: ListenerState): string {
  const total = arrived + waiting + lost;
  if (total === 0) return 'No vote had to wait.';
  if (arrived === total)
    return total === 1 ? '1 vote waited; it has arrived.' : `${votes(total)} waited; all have arrived.`;
  const parts = [
    `${numberText(arrived)} ${arrived === 1 ? 'has' : 'have'} arrived`,
    waiting > 0 ? `${numberText(waiting)} ${waiting === 1 ? 'is' : 'are'} still being sent` : '',
    lost > 0 ? `${numberText(lost)} could not be delivered or confirmed, and can be sent again by hand` : '',
  ].filter(Boolean);
  return `${votes(total)} waited: ${parts.join('; ')}.`;
}

export type ListenerState = {
  listener: Listener;
  server: Server;
  deliveries: DeliveryCounts;
  expiresAt: Date | null;
  /** The last attempt of that vote; null if it was not sent yet. */
  lastAttempt: Pick<Attempt, 'code' | 'words'> | null;
};
