import { explain, listenerReason } from '../delivery/diagnosis/explanations.ts';
import type { Config } from '../platform/config.ts';
import type { DueNotification } from './due-notifications.ts';
import type { Notification } from './notification.ts';

type Site = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;
type Letter = { subject: string; text: string };

const counting = new Intl.NumberFormat('en-GB');
const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

function votes(count: number): string {
  return `${counting.format(count)} ${count === 1 ? 'vote' : 'votes'}`;
}

/** A sentence about votes whose verb agrees: `1 vote waits`, `37 votes wait`. */
function votesDo(count: number, one: string, many: string): string {
  return `${votes(count)} ${count === 1 ? one : many}`;
}

function time(at: Date): string {
  return `${moment.format(at)} UTC`;
}

/** The mail of a notification to a server's owner. */
export function notificationText(site: Site, notification: Notification, due: DueNotification): Letter {
  const { subject, lines } = LETTERS[due.kind](notification, due);
  const path = `${site.PUBLIC_URL}/dashboard/servers/${notification.server._id.toHexString()}/listener`;
  return {
    subject: `${notification.server.name}: ${subject}`,
    text: [
      ...lines,
      path,
      `-- \n${site.SERVICE_NAME}, ${site.PUBLIC_URL}\nYou get this mail because you own this server. To switch these mails off: ${site.PUBLIC_URL}/account`,
    ].join('\n\n'),
  };
}

type Content = { subject: string; lines: string[] };
type Writer = (notification: Notification, due: DueNotification) => Content;

const LETTERS: Record<DueNotification['kind'], Writer> = {
  paused: (notification, { since }) => ({
    subject: 'its vote listener is paused',
    lines: [
      `The vote listener of ${notification.server.name} does not accept votes. Delivery is paused since ${time(since)}.`,
      ...reason(notification),
      `${waiting(notification)} Votes are kept for 72 hours after they were cast. They are sent as soon as you have corrected the listener and resumed it here:`,
    ],
  }),
  unreachable: (notification, { since }) => ({
    subject: 'its vote listener cannot be reached',
    lines: [
      `We have not been able to reach the vote listener of ${notification.server.name} since ${time(since)}.`,
      ...reason(notification),
      `${waiting(notification)} We keep trying and send the votes as soon as the listener answers, up to 72 hours after they were cast. The listener’s page:`,
    ],
  }),
  expiring: (notification) => ({
    subject: 'votes are about to be given up',
    lines: [
      `${votesDo(notification.deliveries.waiting, 'waits', 'wait')} for the vote listener of ${notification.server.name}. A vote that could not be delivered within 72 hours is given up${notification.expiresAt ? `, the oldest of these on ${time(notification.expiresAt)}` : ''}.`,
      ...reason(notification),
      'You can send these votes again by hand for 30 days. The listener’s page:',
    ],
  }),
  returned: (notification, { since }) => ({
    subject: 'its vote listener is back',
    lines: [
      `The vote listener of ${notification.server.name} takes votes again, after an outage that began on ${time(since)}.`,
      outcome(notification),
      'The listener’s page:',
    ],
  }),
};

function reason({ listener }: Notification): string[] {
  const found = listenerReason(listener);
  if (!found) return listener.limited ? [explain('outgoing-limited', listener.protocol).cause] : [];
  const { cause, mend, words, detail } = found;
  return [`${cause}${words ? ` Its answer: «${words}»` : ''}${detail ? ` (${detail})` : ''}\n${mend}`];
}

function waiting({ deliveries }: Notification): string {
  return deliveries.waiting === 0
    ? 'No vote is waiting yet.'
    : `${votesDo(deliveries.waiting, 'is waiting.', 'are waiting.')}`;
}

function outcome({ deliveries: { arrived, waiting, lost } }: Notification): string {
  const total = arrived + waiting + lost;
  if (total === 0) return 'No vote had to wait.';
  if (arrived === total)
    return total === 1 ? '1 vote waited; it has arrived.' : `${votes(total)} waited; all have arrived.`;
  const parts = [
    `${counting.format(arrived)} ${arrived === 1 ? 'has' : 'have'} arrived`,
    waiting > 0 ? `${counting.format(waiting)} ${waiting === 1 ? 'is' : 'are'} still being sent` : '',
    lost > 0
      ? `${counting.format(lost)} could not be delivered or confirmed, and can be sent again by hand`
      : '',
  ].filter(Boolean);
  return `${votes(total)} waited: ${parts.join('; ')}.`;
}
