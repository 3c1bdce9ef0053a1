import { html } from 'hono/html';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { explain, listenerReason } from '../../delivery/diagnosis/explanations.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { type ListenerState, lastDelivery, settingsProof } from '../../listeners/listener.ts';
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

type Stated = Pick<ListenerView, 'state' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'>;

/** A listener's state. It is called active only after a vote or a test vote arrived with its present settings. */
export function listenerBadge(listener: Stated): Html {
  return badge(...toneAndWords(listener));
}

function toneAndWords(listener: Stated): [Tone, string] {
  const { state } = listener;
  const proof = settingsProof(listener);
  if (state !== 'active' || proof === 'works') return [LISTENER_TONES[state], state];
  return proof === 'failed' ? ['bad', 'test failed'] : ['attention', 'not tested'];
}

/** The number of waiting votes, counted up to `COUNTED_AT_MOST`. */
export function waitingWords(waiting: number): string {
  return `${count(waiting)}${waiting >= COUNTED_AT_MOST ? ' or more' : ''}`;
}

/** A listener's state in one line, for other pages. */
export function listenerLine({ listener, queuePaused }: ListenerStatus, now: Date): Html {
  if (!listener)
    return html`<p class="soft">No vote listener. Votes are counted, and you can send them later.</p>`;
  return html`<p>${listenerBadge(listener)} ${shortReason(listener, now)}
    ${lastVoteWords(listener, now)}
    ${queuePaused ? QUEUE_PAUSED : ''}</p>`;
}

/** When the last vote with these settings was delivered, or sent without an answer. */
export function lastVoteWords(listener: ListenerView, now: Date): Content {
  const last = lastDelivery(listener);
  if (!last) return '';
  const at = timeAgo(last.at, now);
  return last.confirmed === false
    ? html`<span class="soft">Last vote sent ${at}, not confirmed.</span>`
    : html`<span class="soft">Last vote delivered ${at}.</span>`;
}

function shortReason(listener: ListenerView, now: Date): Content {
  const { breaker, pause } = listener;
  const reason = listenerReason(listener);
  if (!reason) return '';
  if (pause) return html`${reason.cause} Votes wait until you resume the listener.`;
  return html`${reason.cause} ${breaker.nextTestAt ? `Next test ${relative(breaker.nextTestAt, now)}.` : ''}`;
}

const QUEUE_PAUSED = 'The operator of this listing has paused vote delivery for all servers.';

/** The state for screen readers, without values that change all the time. */
export function listenerAnnouncement(listener: Stated & Pick<ListenerView, 'waiting'>): string {
  const [, state] = toneAndWords(listener);
  return `Vote listener: ${state}. ${listener.waiting === 0 ? 'No votes are waiting.' : 'Votes are waiting.'}`;
}

/** A listener's state, its reason, how to fix it, and the buttons. */
export function listenerState(
  { listener, queuePaused }: { listener: ListenerView; queuePaused: boolean | null },
  path: string,
  now: Date,
): Html {
  const { breaker, state, waiting, unconfirmed, sentNotConfirmed } = listener;
  const last = lastDelivery(listener);
  return html`${why(listener, now)} ${queuePaused ? notice('attention', QUEUE_PAUSED) : ''}
    ${facts([
      ['Votes waiting', waiting === 0 ? 'none' : waitingWords(waiting)],
      ['Unconfirmed', unconfirmed === 0 ? null : unconfirmedWords(unconfirmed, path)],
      ['Sent, not confirmed', sentNotConfirmed === 0 ? null : sentWords(sentNotConfirmed, path)],
      [
        'Next test',
        state === 'unreachable' && breaker.nextTestAt
          ? html`${timeAgo(breaker.nextTestAt, now)}, with one vote. When it arrives, the others follow.`
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
  'Your website has not answered the challenge yet. Send a test vote to trigger it, or wait for the first vote.';

const LIMITED =
  'The number of connections per minute is limited until the listener acknowledges its first vote.';

/** The number of unconfirmed votes, with a link to send them again. */
function unconfirmedWords(unconfirmed: number, path: string): Html {
  const words = 'no answer after the last attempt. They may have arrived.';
  return html`${waitingWords(unconfirmed)}: ${words} <a href="${resendPath(path, 'unconfirmed')}">Send again…</a>`;
}

/** The number of votes that Votifier v1 did not confirm, with a link to send them again. */
function sentWords(votes: number, path: string): Html {
  const words =
    'the listener closed the connection without an answer. They count as delivered. If they did not reach your game:';
  return html`${waitingWords(votes)}: ${words} <a href="${resendPath(path, 'sent-not-confirmed')}">Send again…</a>`;
}

function resendPath(path: string, state: VoteSelection): string {
  return `${path.replace(/\/listener$/, '/votes')}/resend?state=${state}`;
}

function why(listener: ListenerView, now: Date): Content {
  const { state, breaker, limited } = listener;
  const reason = listenerReason(listener);
  if (reason) {
    const title =
      state === 'unreachable'
        ? 'Unreachable'
        : reason.code
          ? 'Paused because of an error'
          : 'Paused by its owner';
    return notice(
      state === 'paused' ? 'attention' : 'bad',
      html`<p><strong>${title} since ${time(reason.since)}</strong> <span class="soft">(${relative(reason.since, now)})</span></p>
        <p>${reason.code ? reason.cause : ''}${reason.words ? html` The listener’s answer: «<bdi>${reason.words}</bdi>»` : ''}${reason.detail ? ` (${reason.detail})` : ''}</p>
        <p>${reason.mend}</p>`,
    );
  }
  if (state === 'unverified') return html`<p>${UNVERIFIED}</p>`;
  if (limited && limited.until > now) {
    return html`<p>The next votes are sent ${relative(limited.until, now)}. ${LIMITED}</p>`;
  }
  if (breaker.failures === 0 || !breaker.code) return html`<p>${untroubled(listener)}</p>`;
  const times =
    breaker.failures === 1 ? 'The last attempt failed' : `The last ${breaker.failures} attempts failed`;
  return html`<p>${times}: ${explain(breaker.code, listener.protocol).cause} We retry automatically. After three failures in a row,
    the listener is marked unreachable.</p>`;
}

/** Without failed attempts: what the last test vote found. */
function untroubled(listener: ListenerView): string {
  const { tested, protocol } = listener;
  switch (settingsProof(listener)) {
    case 'works':
      return 'Votes are sent as soon as they are cast.';
    case 'untested':
      return 'No vote has arrived with these settings yet. Send a test vote to check them.';
    case 'failed':
      return `The last test vote did not arrive: ${tested ? explain(tested.code, protocol).cause : ''} Votes are sent anyway. Send another test vote to see each step.`;
  }
}

function actions(state: ListenerState, path: string): Content {
  const pause = button({ to: `${path}/pause`, text: 'Pause' });
  switch (state) {
    case 'active':
    case 'unverified':
      return pause;
    case 'paused':
      return button({ to: `${path}/resume`, text: 'Resume', kind: 'primary' });
    case 'unreachable':
      return [button({ to: `${path}/resume`, text: 'Test now', kind: 'primary' }), pause];
  }
}
