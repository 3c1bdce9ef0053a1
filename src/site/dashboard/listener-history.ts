import type { WithId } from 'mongodb';
import { explainFor, listenerReason, REASON_FIELDS } from '../../delivery/diagnosis/listener-reason.ts';
import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { failedAttempts } from '../../delivery/figures/delivery-sums.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Listener, Release } from '../../listeners/listener.ts';
import { listenerState } from '../../listeners/listener-state.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { after, DAY } from '../../platform/clock.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import { deckCard } from '../shared/deck.ts';
import { attemptsChart, attemptsText } from '../shared/delivery-charts.ts';
import { duration, shortDay, shortTime } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { listenerBadge } from '../shared/listener-state-parts.ts';
import { type Stroke, strokeMark } from '../shared/tally.ts';
import { codeWords } from '../shared/timeline-list.ts';

/** What the card and the table of causes read of a listener. */
export const HISTORY_FIELDS = { ...REASON_FIELDS, proven: 1, fetched: 1, released: 1 } as const;

type Entry = { stroke: Stroke; at: Date; time?: string; text: Content; more?: string };

/** More days than these are in the table below the strip. */
const MOST_DAYS = 8;

/**
 * The listener now, the last events that are stored with it, and the days on which attempts failed. When earlier
 * outages began and ended is not stored.
 */
export function listenerHistory(listener: WithId<Listener> | null, days: DayOfDeliveries[], now: Date): Html {
  const entries = [...(listener ? eventsOf(listener) : []), ...badDays(days)];
  const sorted = entries.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const list = [...(listener ? stopOf(listener, now) : []), ...sorted];
  return deckCard({
    title: t('The listener'),
    columns: 12,
    id: 'listener-days',
    beside: listener
      ? listenerBadge({ ...listener, state: listenerState(listener) }, now)
      : t('No vote listener.'),
    body: html`${attemptsChart(days)}
      ${list.length > 0 ? html`<ol class="ups">${list.map(item)}</ol>` : ''}`,
  });
}

function item({ stroke, at, time = shortTime(at), text, more = '' }: Entry): Html {
  return html`<li>${strokeMark(stroke)}<time datetime="${at.toISOString()}">${time}</time><span>${text}</span>
    <span class="soft">${more}</span></li>`;
}

/** Since when it is paused or unreachable, and why. */
function stopOf(listener: Listener, now: Date): Entry[] {
  const reason = listenerReason(listener);
  if (!reason) return [];
  const { since, code, cause } = reason;
  const time = t('since {time}', { time: shortTime(since) });
  const more = duration(now.getTime() - since.getTime());
  return [{ stroke: code ? 'failed' : 'waiting', at: since, time, text: t(cause), more }];
}

const RELEASES: Partial<Record<Release['by'], Text>> = {
  'listener-back': defineMessage('The listener took votes again.'),
  resume: defineMessage('The listener was resumed.'),
  'settings-changed': defineMessage('Changed settings ended the stop.'),
};

function eventsOf(listener: Listener): Entry[] {
  const { released, acknowledgedAt, updatedAt, tested } = listener;
  const ended = released && RELEASES[released.by];
  const events: Entry[] = [{ stroke: 'none', at: updatedAt, text: t('The settings were saved.') }];
  if (ended) events.push({ stroke: 'arrived', at: released.at, text: t(ended) });
  if (acknowledgedAt)
    events.push({
      stroke: 'arrived',
      at: acknowledgedAt,
      text: t('It took its first vote with these settings.'),
    });
  if (tested) events.push({ at: tested.at, ...testOf(listener, tested.code) });
  return events;
}

function testOf(listener: Listener, code: OutcomeCode): Pick<Entry, 'stroke' | 'text'> {
  const kind = outcomeOf(code).class;
  const stroke = kind === 'delivered' ? 'arrived' : kind === 'ambiguous' ? 'unconfirmed' : 'failed';
  return { stroke, text: html`${t('Test:')} ${t(explainFor(listener, code).cause)}` };
}

/** Of a day: how many attempts failed, and why most of them did. */
function badDays(days: DayOfDeliveries[]): Entry[] {
  const bad = days.filter((one) => failedAttempts(one) > 0).slice(-MOST_DAYS);
  return bad.map((one) => {
    const causes = Object.entries(one.causes).toSorted(([, a], [, b]) => b - a);
    const words = causes.map(([code]) => codeWords(code)).join(', ');
    const day = startOfDay(one.day);
    return {
      stroke: 'failed',
      // The sum of a day is above the events of that day.
      at: after(day, DAY),
      time: shortDay(day),
      text: html`<b lang="en">${words}</b>: ${attemptsText(one)}`,
    };
  });
}
