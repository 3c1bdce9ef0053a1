import { html } from 'hono/html';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { explain, listenerReason } from '../../delivery/diagnosis/explanations.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { type ListenerState, lastDelivery } from '../../listeners/listener.ts';
import type { VoteSelection } from '../../votes/sent-not-confirmed.ts';
import type { Content, Html } from '../html.ts';
import { badge, button, facts, notice, type Tone } from '../parts.ts';
import { count, relative, time, timeAgo } from '../words.ts';
import type { ListenerStatus } from './listener-status.ts';

export const LISTENER_TONES: Record<ListenerState, Tone> = {
  active: 'good',
  unverified: 'attention',
  paused: 'attention',
  unreachable: 'bad',
};

/** How many votes wait; they are not counted further than some thousands. */
export function waitingWords(waiting: number): string {
  return `${count(waiting)}${waiting >= COUNTED_AT_MOST ? ' or more' : ''}`;
}

/** The same listener in one line, for pages about something else. */
export function listenerLine({ listener, queuePaused }: ListenerStatus, now: Date): Html {
  if (!listener)
    return html`<p class="soft">There is no vote listener: votes are counted, and can be sent later.</p>`;
  const { state } = listener;
  return html`<p>${badge(LISTENER_TONES[state], state)} ${shortReason(listener, now)}
    ${lastVoteWords(listener, now)}
    ${queuePaused ? HELD : ''}</p>`;
}

/** When the last vote with these settings arrived, or was sent without a word from the listener. */
export function lastVoteWords(listener: ListenerView, now: Date): Content {
  const last = lastDelivery(listener);
  if (!last) return '';
  const at = timeAgo(last.at, now);
  return last.confirmed === false
    ? html`<span class="soft">The last vote was sent ${at}, not confirmed.</span>`
    : html`<span class="soft">The last vote arrived ${at}.</span>`;
}

function shortReason(listener: ListenerView, now: Date): Content {
  const { breaker, pause } = listener;
  const reason = listenerReason(listener);
  if (!reason) return '';
  if (pause) return html`${reason.cause} Its votes wait until it is resumed.`;
  return html`${reason.cause} ${breaker.nextTestAt ? `It is tested ${relative(breaker.nextTestAt, now)}.` : ''}`;
}

const HELD = 'An operator of this listing holds the votes of every server at the moment.';

/** How it stands, for a screen reader: without anything that changes by itself. */
export function listenerSaid({ state, waiting }: Pick<ListenerView, 'state' | 'waiting'>): string {
  return `The listener is ${state}. ${waiting === 0 ? 'No vote waits.' : 'Votes wait.'}`;
}

/** How a listener stands, why, what to do, and the button that does it. */
export function listenerState(
  { listener, queuePaused }: { listener: ListenerView; queuePaused: boolean | null },
  path: string,
  now: Date,
): Html {
  const { breaker, state, waiting, unconfirmed, sentNotConfirmed } = listener;
  const last = lastDelivery(listener);
  return html`${why(listener, now)} ${queuePaused ? notice('attention', HELD) : ''}
    ${facts([
      ['Votes waiting', waiting === 0 ? 'none' : waitingWords(waiting)],
      ['Unconfirmed', unconfirmed === 0 ? null : unconfirmedWords(unconfirmed, path)],
      ['Sent, not confirmed', sentNotConfirmed === 0 ? null : sentWords(sentNotConfirmed, path)],
      [
        'Next test',
        state === 'unreachable' && breaker.nextTestAt
          ? html`${timeAgo(breaker.nextTestAt, now)}, with one vote; the first that arrives releases the others`
          : null,
      ],
      [
        'Last delivered',
        last
          ? html`${timeAgo(last.at, now)}${last.confirmed === false ? ', not confirmed' : ''}`
          : 'none with these settings',
      ],
    ])}
    <div class="actions">${actions(state, path)}</div>`;
}

const UNVERIFIED =
  'The website has not shown yet that it wants votes. Send a test vote: a signed challenge comes first, and the website repeats it. Without a test the first vote brings the challenge.';

const LIMITED =
  'The listener has not acknowledged a vote yet, and until it does only so many connections a minute are opened to its address and for one account.';

/** Votes that may have arrived, with the way to send them again. */
function unconfirmedWords(unconfirmed: number, path: string): Html {
  const words = 'given up without an answer; they may have arrived.';
  return html`${waitingWords(unconfirmed)}: ${words} <a href="${resendPath(path, 'unconfirmed')}">Send them again …</a>`;
}

/** Delivered votes that Votifier v1 did not confirm, with the way to those that did not arrive. */
function sentWords(votes: number, path: string): Html {
  const words =
    'Votifier v1 closed without an answer; they count as delivered. If they did not reach your game:';
  return html`${waitingWords(votes)}: ${words} <a href="${resendPath(path, 'sent-not-confirmed')}">Send them again …</a>`;
}

function resendPath(path: string, state: VoteSelection): string {
  return `${path.replace(/\/listener$/, '/votes')}/resend?state=${state}`;
}

function why(listener: ListenerView, now: Date): Content {
  const { state, breaker, limited } = listener;
  const reason = listenerReason(listener);
  if (reason) {
    const what =
      state === 'unreachable'
        ? 'Unreachable'
        : reason.code
          ? 'Paused because of a fault'
          : 'Paused by its owner';
    return notice(
      state === 'paused' ? 'attention' : 'bad',
      html`<p><strong>${what} since ${time(reason.since)}</strong> <span class="soft">(${relative(reason.since, now)})</span></p>
        <p>${reason.code ? reason.cause : ''}${reason.words ? html` It said: «<bdi>${reason.words}</bdi>»` : ''}${reason.detail ? ` (${reason.detail})` : ''}</p>
        <p>${reason.mend}</p>`,
    );
  }
  if (state === 'unverified') return html`<p>${UNVERIFIED}</p>`;
  if (limited && limited.until > now) {
    return html`<p>The next votes are sent ${relative(limited.until, now)}. ${LIMITED}</p>`;
  }
  if (breaker.failures === 0 || !breaker.code) {
    return html`<p>Votes are sent as they come in.</p>`;
  }
  const times =
    breaker.failures === 1 ? 'The last attempt failed' : `The last ${breaker.failures} attempts failed`;
  return html`<p>${times}: ${explain(breaker.code, listener.protocol).cause} It is tried again by itself; after three failures in a row
    the listener counts as unreachable.</p>`;
}

function actions(state: ListenerState, path: string): Content {
  const pause = button({ to: `${path}/pause`, text: 'Pause' });
  switch (state) {
    case 'active':
    case 'unverified':
      return pause;
    case 'paused':
      return button({ to: `${path}/resume`, text: 'Resume and send what waits', kind: 'primary' });
    case 'unreachable':
      return [button({ to: `${path}/resume`, text: 'Test now', kind: 'primary' }), pause];
  }
}
