import type { OlderAttempts } from '../../delivery/timeline/older-attempts.ts';
import type { AttemptEvent, TimelineEvent } from '../../delivery/timeline/timeline-event.ts';
import { causeText, eventText } from '../../delivery/timeline/timeline-texts.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { NOTHING_TO_DO } from '../../listeners/explanation.ts';
import type { OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import type { Step } from '../../listeners/outcomes.ts';
import { count, counted, duration, exactTime } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { badge, type Tone } from './parts.ts';

/** If several attempts have the same advice, only the newest of them shows it. */
export function timelineList(events: TimelineEvent[]): Html {
  const newest = new Map(events.map((event) => [adviceOf(event), event]));
  return html`<ol class="timeline">${events.map((event) => item(event, newest.get(adviceOf(event)) === event))}</ol>`;
}

function adviceOf(event: TimelineEvent): string | null {
  const end = event.kind === 'attempt' ? event.end : null;
  return end && end.advice !== NOTHING_TO_DO ? t(end.advice) : null;
}

function item(event: TimelineEvent, hasAdvice: boolean): Html {
  switch (event.kind) {
    case 'attempt':
      return attemptItem(event, hasAdvice);
    case 'older-attempts':
      return olderItem(event);
    default: {
      const words = eventText(event);
      return entry(
        'quiet',
        event.at,
        html`<strong>${words.charAt(0).toUpperCase()}${words.slice(1)}</strong>`,
      );
    }
  }
}

function entry(tone: Tone, at: Date | null, head: Content, body: Content = ''): Html {
  return html`<li class="${tone}">
    <p>${head} <span class="small soft">${at ? exactTime(at) : ''}</span></p>
    ${body}
  </li>`;
}

const CLASS_TEXTS: Record<OutcomeClass, Text> = {
  delivered: defineMessage('delivered'),
  transient: defineMessage('transient'),
  ambiguous: defineMessage('ambiguous'),
  configuration: defineMessage('configuration'),
  'vote-only': defineMessage('vote-only'),
  none: defineMessage('none'),
};

const CLASS_TONES: Record<string, Tone> = {
  delivered: 'good',
  transient: 'attention',
  ambiguous: 'attention',
  configuration: 'bad',
  'vote-only': 'bad',
  none: 'quiet',
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

function attemptItem(attempt: AttemptEvent, hasAdvice: boolean): Html {
  const { at, number, test, end, underWay, worker } = attempt;
  const isFetched = attempt.protocol === 'fetch';
  const kind = test ? t('Listener test') : t('Attempt');
  const what = number === null ? `${kind}, ${t('not counted')}` : `${kind} ${number}`;
  const cause = causeText(attempt);
  const startedBy = cause ? `${t('Started by {cause}.', { cause })} ` : '';
  if (!end) {
    const open = isFetched ? t('fetched, no result yet') : t('in progress');
    const words = underWay ? open : t('outcome unknown');
    return entry(
      underWay ? 'quiet' : 'attention',
      at,
      html`<strong>${what}</strong> ${badge(underWay ? 'attention' : 'quiet', words)}`,
      html`<p class="small soft">${startedBy}${isFetched ? '' : t('Worker {worker}.', { worker })}</p>`,
    );
  }
  const tone = CLASS_TONES[end.class] ?? 'quiet';
  const took =
    end.durationMs === null ? '' : ` ${t('Duration: {duration}.', { duration: duration(end.durationMs) })}`;
  const reached = isFetched ? t(handedOver(end.class)) : end.reached ? t(REACHED[end.reached]) : '';
  const answer = end.words && { words: end.words };
  const head = html`<strong>${what}</strong> ${badge(tone, end.code.replaceAll('-', ' '))}`;
  return entry(
    tone,
    at,
    head,
    html`<p>${t(end.cause)}</p>
      ${
        answer
          ? html`<p>${
              isFetched
                ? t('Reported reason: “<bdi>{words}</bdi>”', answer)
                : t('Listener’s answer: “<bdi>{words}</bdi>”', answer)
            }</p>`
          : ''
      }
      ${end.detail ? html`<p>${t('Detail: {detail}', { detail: end.detail })}</p>` : ''}
      ${hasAdvice && adviceOf(attempt) ? html`<p>${t(end.advice)}</p>` : ''}
      <p class="small soft">${startedBy}${reached}${took} (${t(CLASS_TEXTS[end.class])})</p>`,
  );
}

function olderItem({ count: older, firstAt, lastAt, ends, codes }: OlderAttempts): Html {
  const outcomes = Object.entries(codes ?? ends).map(
    ([of, times]) => `${count(times)} × ${of.replaceAll('-', ' ')}`,
  );
  const until = lastAt ? html` ${t('to {time}', { time: exactTime(lastAt) })}` : '';
  return entry(
    'quiet',
    firstAt,
    html`<strong>${counted(older, 'older attempt')}</strong>`,
    html`<p class="small soft">${outcomes.join(', ')}${until}. ${t('Their details are not kept.')}</p>`,
  );
}
