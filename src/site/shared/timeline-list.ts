import type { OlderAttempts } from '../../delivery/timeline/older-attempts.ts';
import type { AttemptEvent, AttemptOutcome, TimelineEvent } from '../../delivery/timeline/timeline-event.ts';
import { causeText, eventText } from '../../delivery/timeline/timeline-texts.ts';
import { capitalized } from '../../language/language.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { NOTHING_TO_DO } from '../../listeners/explanation.ts';
import type { OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import type { Step } from '../../listeners/outcomes.ts';
import { SECOND } from '../../platform/clock.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { clockTime, count, counted, duration, exactTime, lapse, shortDay } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { type Stroke, strokeWord } from './tally.ts';

/** Shorter waits are not worth a line. */
const SHORTEST_WAIT = 10 * SECOND;

/**
 * A vote's way as a log. Times count from its first event, with the time of day below. If several attempts have the same
 * advice, only the newest of them shows it.
 */
export function timelineList(events: TimelineEvent[]): Html {
  const newest = new Map(events.map((event) => [adviceOf(event), event]));
  const from = events.find(({ at }) => at)?.at ?? null;
  const place = (event: TimelineEvent) => ({ from, hasAdvice: newest.get(adviceOf(event)) === event });
  const waits = new Map(events.map((event, index) => [event, wait(events[index - 1], event)]));
  const line = (event: TimelineEvent, shown = place(event)) => [waits.get(event), item(event, shown)];
  return html`<ol class="log">${runsOf(events).map((run) => {
    const [first, last] = [run[0], run.at(-1)];
    if (!isAttempts(run) || first?.kind !== 'attempt' || last?.kind !== 'attempt')
      return run.map((one) => line(one));
    const each = run.map((one) => line(one, { from, hasAdvice: false }));
    return [waits.get(first), attemptsItem(run, place(last), each)];
  })}</ol>`;
}

/** Fewer equal attempts are shown one by one. */
const FEWEST_GROUPED = 3;

const isAttempts = (run: TimelineEvent[]): run is AttemptEvent[] => run.length >= FEWEST_GROUPED;

/** Attempts in a row that a log would repeat are one run; any other event is a run of its own. */
function runsOf(events: TimelineEvent[]): TimelineEvent[][] {
  const runs: TimelineEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    const same = sameness(event);
    if (run?.[0] && same !== null && sameness(run[0]) === same) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

/** What the line of several attempts says of all. When, how long, by which worker and why they began is in each. */
function sameness(event: TimelineEvent): string | null {
  if (event.kind !== 'attempt' || !event.end || event.number === null) return null;
  const { test, protocol, end } = event;
  const { durationMs: _, ...same } = end;
  return JSON.stringify([test, protocol, same]);
}

/** `connection-refused` becomes `connection refused`. Codes are not translated: logs and support name them. */
export function codeWords(code: string): string {
  return code.replaceAll('-', ' ');
}

function adviceOf(event: TimelineEvent): string | null {
  const end = event.kind === 'attempt' ? event.end : null;
  return end && end.advice !== NOTHING_TO_DO ? t(end.advice) : null;
}

/** Between the end of one event and the attempt, or the end of all attempts, that follows. */
function wait(before: TimelineEvent | undefined, { kind, at }: TimelineEvent): Content {
  if (kind !== 'attempt' && kind !== 'expired') return '';
  const start = before && (before.kind === 'older-attempts' ? before.lastAt : before.at);
  if (!start || !at) return '';
  const took = before.kind === 'attempt' ? (before.end?.durationMs ?? 0) : 0;
  const waited = at.getTime() - start.getTime() - took;
  if (waited < SHORTEST_WAIT) return '';
  const text = t('waited {time}', { time: lapse(waited) });
  return html`<li class="waiting"><span class="at"></span><div><p>${text}</p></div></li>`;
}

type Place = { from: Date | null; hasAdvice: boolean };

function item(event: TimelineEvent, place: Place): Html {
  switch (event.kind) {
    case 'attempt':
      return attemptItem(event, place);
    case 'older-attempts':
      return olderItem(event, place);
    default: {
      const head = html`<b>${capitalized(eventText(event))}</b>`;
      return entry({ stroke: STROKES[event.kind] ?? 'none', at: event.at, head }, place);
    }
  }
}

/** Of the events that say how the vote ended. */
const STROKES: Partial<Record<TimelineEvent['kind'], Stroke>> = {
  expired: 'failed',
  'server-removed': 'failed',
  'acknowledged-late': 'arrived',
  claimed: 'arrived',
};

type Entry = { stroke: Stroke; at: Date | null; head: Content; body?: Content };

function entry({ stroke, at, head, body = '' }: Entry, { from }: Place): Html {
  return html`<li class="${stroke}"><span class="at">${at && from ? timeSince(from, at) : ''}</span>
    <div><p>${head}</p>${body}</div></li>`;
}

function timeSince(from: Date, at: Date): Html {
  const ms = at.getTime() - from.getTime();
  const day = dayOf(at) === dayOf(from) ? '' : `${shortDay(at)}, `;
  const clock = html`<time datetime="${at.toISOString()}">${day}${clockTime(at)}</time>`;
  return ms === 0 ? clock : html`<b>${ms > 0 ? '+' : '−'}${lapse(Math.abs(ms))}</b> ${clock}`;
}

const CLASS_TEXTS: Record<OutcomeClass, Text> = {
  delivered: defineMessage('delivered'),
  transient: defineMessage('transient'),
  ambiguous: defineMessage('ambiguous'),
  configuration: defineMessage('configuration'),
  'vote-only': defineMessage('vote-only'),
  none: defineMessage('none'),
};

const CLASS_STROKES: Record<OutcomeClass, Stroke> = {
  delivered: 'arrived',
  transient: 'failed',
  ambiguous: 'unconfirmed',
  configuration: 'failed',
  'vote-only': 'failed',
  none: 'none',
};

const REACHED: Record<Step, Text> = {
  none: defineMessage('The host name did not resolve.'),
  resolved: defineMessage('The address was found, but the connection failed.'),
  connected: defineMessage('Connected.'),
  greeted: defineMessage('Connected and received the greeting.'),
  written: defineMessage('Sent the vote.'),
  acknowledged: defineMessage('Sent the vote and received an answer.'),
};

function handedOver(of: OutcomeClass): Text {
  if (of === 'delivered') return defineMessage('It was handed over.');
  return of === 'ambiguous'
    ? defineMessage('It may have been handed over.')
    : defineMessage('It was not handed over.');
}

function attemptItem(attempt: AttemptEvent, place: Place): Html {
  const { at, number, test, end, underWay, worker } = attempt;
  const isFetched = attempt.protocol === 'fetch';
  const kind = test ? t('Listener test') : t('Attempt');
  const what = html`<b>${number === null ? `${kind}, ${t('not counted')}` : `${kind} ${number}`}</b>`;
  const cause = causeText(attempt);
  const startedBy = cause ? `${t('Started by {cause}.', { cause })} ` : '';
  if (!end) {
    const open = isFetched ? t('fetched, no result yet') : t('in progress');
    const stroke = underWay ? 'waiting' : 'none';
    const head = html`${what} ${strokeWord(stroke, underWay ? open : t('outcome unknown'))}`;
    const body = html`<p class="soft">${startedBy}${isFetched ? '' : t('Worker {worker}.', { worker })}</p>`;
    return entry({ stroke, at, head, body }, place);
  }
  const stroke = strokeOf(end);
  const head = html`${what} ${strokeWord(stroke, codeWords(end.code))}`;
  const body = outcomeBody(attempt, end, startedBy, place.hasAdvice);
  return entry({ stroke, at, head, body }, place);
}

function strokeOf(end: AttemptOutcome): Stroke {
  return end.code === 'sent-not-confirmed' ? 'unconfirmed' : (CLASS_STROKES[end.class] ?? 'none');
}

/** What the listener said, and details. */
function answerOf({ protocol }: AttemptEvent, { words, detail }: AttemptOutcome): Content {
  const said = protocol === 'fetch' ? t('Reported reason:') : t('Listener’s answer:');
  return html`${words ? html`<p>${said} <code class="say"><bdi>${words}</bdi></code></p>` : ''}
    ${detail ? html`<p>${t('Detail: {detail}', { detail })}</p>` : ''}`;
}

function outcomeBody(
  attempt: AttemptEvent,
  end: AttemptOutcome,
  startedBy: string,
  hasAdvice: boolean,
): Html {
  const isFetched = attempt.protocol === 'fetch';
  const took =
    end.durationMs === null ? '' : ` ${t('Duration: {duration}.', { duration: duration(end.durationMs) })}`;
  const reached = isFetched ? t(handedOver(end.class)) : end.reached ? t(REACHED[end.reached]) : '';
  return html`<p>${t(end.cause)}</p>${answerOf(attempt, end)}
    ${hasAdvice && adviceOf(attempt) ? html`<p>${t(end.advice)}</p>` : ''}
    <p class="soft">${startedBy}${reached}${took} (${t(CLASS_TEXTS[end.class])})</p>`;
}

function attemptsItem(attempts: AttemptEvent[], place: Place, each: Content): Html {
  const [first, last] = [attempts[0], attempts.at(-1)];
  if (!first?.end || !last?.end) return html`${each}`;
  const { end } = last;
  const kind = first.test ? t('Listener tests') : t('Attempts');
  const head = html`<b>${kind} ${first.number}–${last.number}</b>
    ${strokeWord(strokeOf(end), `${count(attempts.length)} × ${codeWords(end.code)}`)}`;
  const times = { from: exactTime(first.at), to: exactTime(last.at) };
  const body = html`<p>${t(end.cause)}</p>${answerOf(last, end)}
    ${place.hasAdvice && adviceOf(last) ? html`<p>${t(end.advice)}</p>` : ''}
    <details><summary>${t('Each of them, from {from} to {to}', times)}</summary><ol class="log">${each}</ol></details>`;
  return entry({ stroke: strokeOf(end), at: first.at, head, body }, place);
}

function olderItem({ count: older, firstAt, lastAt, ends, codes }: OlderAttempts, place: Place): Html {
  const outcomes = Object.entries(codes ?? ends).map(([of, times]) => `${count(times)} × ${codeWords(of)}`);
  const until = lastAt ? html` ${t('to {time}', { time: exactTime(lastAt) })}` : '';
  const head = html`<b>${counted(older, 'older attempt')}</b>`;
  const body = html`<p class="soft">${outcomes.join(', ')}${until}. ${t('Their details are not kept.')}</p>`;
  return entry({ stroke: 'none', at: firstAt, head, body }, place);
}
