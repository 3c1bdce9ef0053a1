import { html } from 'hono/html';
import type { OlderAttempts } from '../../delivery/timeline/older-attempts.ts';
import type { AttemptEvent, TimelineEvent } from '../../delivery/timeline/timeline-event.ts';
import { causeWords, eventWords } from '../../delivery/timeline/timeline-words.ts';
import type { Step } from '../../listeners/outcomes.ts';
import type { Content, Html } from '../html.ts';
import { badge, type Tone } from '../parts.ts';
import { count, counted, duration, exactTime } from '../words.ts';

/** The events of a vote in order. Advice that several attempts share is shown once, with the newest of them. */
export function timelineList(events: TimelineEvent[]): Html {
  const newest = new Map(events.map((event) => [adviceOf(event), event]));
  return html`<ol class="timeline">${events.map((event) => item(event, newest.get(adviceOf(event)) === event))}</ol>`;
}

/** The advice after an attempt; null if there is none. */
function adviceOf(event: TimelineEvent): string | null {
  return event.kind === 'attempt' && event.end && event.end.class !== 'delivered' ? event.end.mend : null;
}

function item(event: TimelineEvent, hasAdvice: boolean): Html {
  switch (event.kind) {
    case 'attempt':
      return attemptItem(event, hasAdvice);
    case 'older-attempts':
      return olderItem(event);
    default: {
      const words = eventWords(event);
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

const CLASS_TONES: Record<string, Tone> = {
  delivered: 'good',
  transient: 'attention',
  ambiguous: 'attention',
  configuration: 'bad',
  'vote-only': 'bad',
  none: 'quiet',
};

/** How far an attempt got. */
const REACHED: Record<Step, string> = {
  none: 'The host name did not resolve.',
  resolved: 'The address was found, but the connection failed.',
  connected: 'Connected.',
  greeted: 'Connected and received the greeting.',
  written: 'Sent the vote.',
  acknowledged: 'Sent the vote and received an answer.',
};

function attemptItem(attempt: AttemptEvent, hasAdvice: boolean): Html {
  const { at, number, test, end, underWay, worker } = attempt;
  const what = `${test ? 'Listener test' : 'Attempt'}${number === null ? ', not counted' : ` ${number}`}`;
  const cause = causeWords(attempt);
  const startedBy = cause ? `Started by ${cause}. ` : '';
  if (!end) {
    const words = underWay ? 'in progress' : 'outcome unknown';
    return entry(
      underWay ? 'quiet' : 'attention',
      at,
      html`<strong>${what}</strong> ${badge(underWay ? 'attention' : 'quiet', words)}`,
      html`<p class="small soft">${startedBy}Worker ${worker}.</p>`,
    );
  }
  const tone = CLASS_TONES[end.class] ?? 'quiet';
  const took = end.durationMs === null ? '' : ` Duration: ${duration(end.durationMs)}.`;
  const head = html`<strong>${what}</strong> ${badge(tone, end.code.replaceAll('-', ' '))}`;
  return entry(
    tone,
    at,
    head,
    html`<p>${end.cause}</p>
      ${end.words ? html`<p>Listener’s answer: «<bdi>${end.words}</bdi>»</p>` : ''}
      ${end.detail ? html`<p>Detail: ${end.detail}</p>` : ''}
      ${hasAdvice && adviceOf(attempt) ? html`<p>${end.mend}</p>` : ''}
      <p class="small soft">${startedBy}${end.reached ? REACHED[end.reached] : ''}${took} (${end.class})</p>`,
  );
}

function olderItem({ count: older, firstAt, lastAt, ends, codes }: OlderAttempts): Html {
  const outcomes = Object.entries(codes ?? ends).map(
    ([of, times]) => `${count(times)} × ${of.replaceAll('-', ' ')}`,
  );
  const until = lastAt ? html` to ${exactTime(lastAt)}` : '';
  return entry(
    'quiet',
    firstAt,
    html`<strong>${counted(older, 'older attempt')}</strong>`,
    html`<p class="small soft">${outcomes.join(', ')}${until}. Their details are not kept.</p>`,
  );
}
