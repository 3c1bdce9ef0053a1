import { SECRET_OVERLAP_MS } from '../../delivery/http/http-listeners.ts';
import { EVENT_TTL_MS } from '../../events/event.ts';
import { MOST_WAITING } from '../../events/subscription.ts';
import { COUNTED_WAITING, type SubscriptionView } from '../../events/subscriptions.ts';
import type { SubscriptionTest } from '../../events/test-subscription.ts';
import { defineMessage, t } from '../../language/t.ts';
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { count, duration, measured, timeAgo, timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, card, confirmed, copyable, facts, linkTo, notice, type Tone } from '../shared/parts.ts';
import { addressOf, kindNames, subscriptionBadge } from './event-list-card.ts';
import { failureText } from './event-reasons.ts';
import type { EventsShowing } from './event-showing.ts';

type Shown = {
  base: string;
  path: string;
  subscription: SubscriptionView;
  showing: EventsShowing;
  now: Date;
};

/** What became of a form, and the state of a destination. */
export function subscriptionCards({ base, path, subscription, showing, now }: Shown): Html {
  const { name, type, kinds, lastSentAt, dropped, waiting } = subscription;
  return html`${showing.message ?? ''}${showing.secret ? secretCard(showing.secret) : ''}
    ${card({
      title: html`<bdi>${name}</bdi>`,
      actions: subscriptionBadge(subscription),
      body: html`${stateNotice(subscription, now)}
        ${facts([
          [type === 'http' ? t('URL') : t('Address'), addressOf(subscription)],
          [t('Events'), kindNames(kinds)],
          [t('Last sent'), lastSentAt && timeAgo(lastSentAt, now)],
          [t('Waiting'), waiting > 0 && waitingText(waiting)],
          [t('Next attempt'), nextAttempt(subscription, now)],
          [t('Dropped'), dropped && droppedText(dropped, now)],
        ])}
        ${buttons(path, subscription)}
        ${type === 'http' ? guide(base) : ''}`,
    })}`;
}

function stateNotice({ pause, failingSince, lastReason }: SubscriptionView, now: Date): Content {
  const reason = pause?.reason ?? lastReason;
  const why = reason ? failureText(reason) : '';
  const at = pause?.at ?? failingSince;
  if (!at) return '';
  const time = timeAgo(at, now);
  switch (pause?.by) {
    case 'owner':
      return notice('quiet', t('Paused {time}. Events wait until you resume it.', { time }));
    case 'failures': {
      const paused = t(
        'Paused {time}, after a day in which nothing arrived. Events wait. Correct the destination, send a test event, and resume it.',
        { time },
      );
      return notice('bad', html`${paused} ${why}`);
    }
    case 'gone': {
      const stopped = t(
        'Stopped {time}: the destination wants no more events. No new ones are kept for it.',
        { time },
      );
      return notice('bad', html`${stopped} ${why}`);
    }
    default:
      return notice('attention', html`${t('Failing since {time}.', { time })} ${why}`);
  }
}

function waitingText(waiting: number): string {
  const events = t('{waiting, plural, one {# event} other {# events}}', { waiting });
  return waiting >= COUNTED_WAITING ? t('{events} or more', { events }) : events;
}

function nextAttempt({ pause, notBefore, waiting }: SubscriptionView, now: Date): Content {
  return pause || waiting === 0 || !notBefore || notBefore <= now ? '' : timeAgo(notBefore, now);
}

function droppedText({ count: events, at }: NonNullable<SubscriptionView['dropped']>, now: Date): Html {
  const text = t(
    '{events, plural, one {# event} other {# events}}, the oldest first, because more than {most} waited',
    { events, most: count(MOST_WAITING) },
  );
  return html`${text} (${timeAgo(at, now)})`;
}

function buttons(path: string, { type, pause, revision, waiting }: SubscriptionView): Html {
  const isPaused = pause !== undefined;
  const going = isPaused
    ? button({ to: `${path}/resume`, text: t('Resume'), kind: 'primary' })
    : button({ to: `${path}/pause`, text: t('Pause') });
  return html`<div class="actions">
    ${button({ to: `${path}/test`, text: t('Send test event'), kind: isPaused ? 'quiet' : 'primary' })}${going}
    ${type === 'http' ? newSecret(`${path}/rotate`, revision) : ''}${removal(`${path}/remove`, waiting)}
  </div>`;
}

function newSecret(to: string, revision: number): Html {
  const consequence = t(
    'A new secret is created and shown once. For {hours} hours, events are signed with both the old and the new secret, so that you can switch without losing events. Any older secret stops working at once.',
    { hours: SECRET_OVERLAP_MS / HOUR },
  );
  const hidden = { revision: String(revision) };
  const form = button({ to, text: t('Create new secret'), kind: 'primary', hidden });
  return confirmed({ text: t('New secret'), consequence, form });
}

function removal(to: string, waiting: number): Html {
  const consequence = t(
    '{waiting, plural, =0 {No event is waiting.} one {# event is waiting and is not sent.} other {# events are waiting and are not sent.}} The log goes with it.',
    { waiting },
  );
  const form = button({ to, text: t('Remove destination'), kind: 'danger' });
  return confirmed({ text: t('Remove'), of: t('the destination'), consequence, form });
}

function secretCard({ text, previousValidUntil }: NonNullable<EventsShowing['secret']>): Html {
  const old =
    previousValidUntil &&
    t('Events are also signed with the old secret until {time}.', { time: timeText(previousValidUntil) });
  const once = t(
    'Copy it now: it is shown only once. Your program uses it to verify that events come from this listing.',
  );
  return card({
    title: t('Your signing secret'),
    isResult: true,
    body: html`<p>${once}</p>${copyable(text, t('the secret'))}
      ${old ? html`<p>${old}</p>` : html`<p>${t('Then send a test event to see that it arrives.')}</p>`}`,
  });
}

const EXAMPLE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.EVENTS_SECRET);
// In your route: the raw body as text, and the request's headers.
const { type, data } = webhook.verify(body, headers); // throws if the signature is invalid
if (type === 'subscription.challenge') return { challenge: data.challenge };
if (await isNew(headers['webhook-id'])) await handle(type, data);`;

function guide(base: string): Html {
  const about = t(
    'Each event is a signed <code>POST</code>. Answer with any 2xx status. After another answer it is sent again, less and less often, with the same <code>webhook-id</code>; events come in no fixed order and are kept for {days} days. <a>All kinds and fields, and an example in Python</a>',
    { days: EVENT_TTL_MS / DAY, a: linkTo(`${base}/docs/events`) },
  );
  return html`<details>
    <summary>${t('How to receive and verify events')}</summary>
    <div class="spaced"><p>${about}</p>${copyable(EXAMPLE, t('the verification in JavaScript'))}</div>
  </details>`;
}

const NOT_TESTED = {
  none: defineMessage('This server has no such destination.'),
  unreadable: defineMessage('The stored secret cannot be read. Remove the destination and add it again.'),
  stopped: defineMessage('The test was stopped before anything was sent. Try again in a minute.'),
};

export function testText(tested: SubscriptionTest): [Tone, Content] {
  if (tested.kind !== 'tested')
    return [tested.kind === 'unreadable' ? 'bad' : 'attention', t(NOT_TESTED[tested.kind])];
  const { end, status, durationMs, reason = '' } = tested;
  const answered = status ? `HTTP ${status}` : t('no answer');
  const measuredText = { answered, time: measured(durationMs) };
  if (end === 'sent') return ['good', t('The test event arrived ({answered}, {time}).', measuredText)];
  if (end === 'waits') {
    const time = duration(Math.max(tested.waitMs ?? 0, MINUTE));
    return ['attention', t('A limit was reached, so nothing was sent. Try again in {time}.', { time })];
  }
  const missed = t('The test event did not arrive ({answered}, {time}).', measuredText);
  return ['bad', html`${missed} ${reason ? failureText(reason) : ''}`];
}
