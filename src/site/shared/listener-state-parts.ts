import type { ListenerView } from '../../delivery/change-listener.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { explainFor, listenerReason } from '../../delivery/diagnosis/listener-reason.ts';
import type { RefusedVote } from '../../delivery/refused-vote.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import {
  firstBeyondAscii,
  isNeglected,
  type ListenerState,
  lastDelivery,
  settingsProof,
} from '../../listeners/listener-state.ts';
import { outcomeOf, saidIn } from '../../listeners/outcomes.ts';
import { SECOND } from '../../platform/clock.ts';
import type { VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { fetchedText, fetchingState } from './fetch-state.ts';
import { count, relative, time, timeAgo } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import type { ListenerStatus } from './listener-status.ts';
import { button, facts, notice, type Tone } from './parts.ts';
import { type Stroke, strokeWord } from './tally.ts';

export const LISTENER_STATE_NAMES: Record<ListenerState, Text> = {
  active: defineMessage('active'),
  unverified: defineMessage('unverified'),
  paused: defineMessage('paused'),
  unreachable: defineMessage('unreachable'),
};

export const LISTENER_TONES: Record<ListenerState, Tone> = {
  active: 'good',
  unverified: 'attention',
  paused: 'attention',
  unreachable: 'bad',
};

type Stated = Pick<ListenerView, 'state' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'> &
  Partial<Pick<ListenerView, 'protocol' | 'fetched' | 'pause' | 'queuedSince'>>;

/**
 * “active” means that a vote or test vote arrived with the current settings, or that a program has fetched votes. With
 * `now`, the word also says whether votes wait and nobody fetches them.
 */
export function listenerBadge(listener: Stated, now?: Date): Html {
  const [tone, text] = toneAndText(listener, now);
  return strokeWord(TONE_STROKES[tone], text);
}

const TONE_STROKES: Record<Tone, Stroke> = {
  good: 'arrived',
  attention: 'waiting',
  bad: 'failed',
  quiet: 'none',
};

function toneAndText(listener: Stated, now?: Date): [Tone, string] {
  const { state, protocol, queuedSince = null } = listener;
  if (protocol === 'fetch' && state === 'active') {
    const { pause = null, fetched, updatedAt } = listener;
    const fetching = { protocol, pause, updatedAt, ...(fetched ? { fetched } : {}) };
    if (now && isNeglected(fetching, queuedSince, now)) return ['bad', t('not fetched')];
    return listener.fetched ? ['good', t(LISTENER_STATE_NAMES.active)] : ['attention', t('not fetched yet')];
  }
  const proof = settingsProof(listener);
  if (state !== 'active' || proof === 'works') return [LISTENER_TONES[state], t(LISTENER_STATE_NAMES[state])];
  return proof === 'failed' ? ['bad', t('test failed')] : ['attention', t('not tested')];
}

/** Counting stops at `COUNTED_AT_MOST`: `10,000 or more`. */
export function waitingText(waiting: number): string {
  return `${count(waiting)}${waiting >= COUNTED_AT_MOST ? ` ${t('or more')}` : ''}`;
}

export function listenerLine({ listener, queuePaused }: ListenerStatus, now: Date): Html {
  if (!listener)
    return html`<p class="soft">${t('No vote listener. Votes are counted, and you can send them later.')}</p>`;
  return html`<p>${listenerBadge(listener, now)} ${shortReason(listener, now)}
    ${listener.protocol === 'fetch' ? fetchedText(listener, now) : ''}
    ${lastVoteText(listener, now)}
    ${queuePaused ? t(QUEUE_PAUSED) : ''}</p>`;
}

export function lastVoteText(
  listener: Parameters<typeof lastDelivery>[0] & Pick<ListenerView, 'state'>,
  now: Date,
): Content {
  const last = lastDelivery(listener);
  if (!last) return '';
  // “just now” would sound as if the listener were reachable.
  const at = listener.state === 'unreachable' ? time(last.at) : timeAgo(last.at, now);
  return last.confirmed === false
    ? html`<span class="soft">${t('Last vote sent {time}, not confirmed.', { time: at })}</span>`
    : html`<span class="soft">${t('Last vote delivered {time}.', { time: at })}</span>`;
}

/** Empty unless it is paused or unreachable. */
export function shortReason(listener: Parameters<typeof listenerReason>[0], now: Date): Content {
  const reason = listenerReason(listener);
  if (!reason) return '';
  if (listener.pause) return html`${t(reason.cause)} ${t('Votes wait until you resume the listener.')}`;
  return html`${t(reason.cause)} ${shortNextTest(listener, now)}`;
}

/** A test that is due is running, or waits for a worker. */
const isDue = (nextTestAt: Date, now: Date) => nextTestAt <= now;

function nextTest(at: Date, now: Date): Content {
  if (isDue(at, now)) return t('now, with one vote. When it arrives, the others follow.');
  const time = isSoon(at, now) ? t('in a few seconds') : timeAgo(at, now);
  return t('{time}, with one vote. When it arrives, the others follow.', { time });
}

/** Empty unless it is unreachable. */
export function shortNextTest(
  { breaker: { nextTestAt: at } }: Pick<ListenerView, 'breaker'>,
  now: Date,
): string {
  if (!at) return '';
  if (isDue(at, now)) return t('It is being tested.');
  return t('Next test {time}.', { time: isSoon(at, now) ? t('in a few seconds') : relative(at, now) });
}

/** `timeAgo` would say “in a moment”, which sounds harmless beside “unreachable”. */
const isSoon = (at: Date, now: Date) => at.getTime() - now.getTime() < 5 * SECOND;

const MAY_MANGLE = defineMessage(
  'Names beyond ASCII may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps them.',
);

const QUEUE_PAUSED = defineMessage('The operator of this listing has paused vote delivery for all servers.');

/** Screen readers read it out when it changes, so it has no values that change often. */
export function listenerAnnouncement(listener: Stated & Pick<ListenerView, 'waiting'>): string {
  const [, state] = toneAndText(listener);
  const votes = listener.waiting === 0 ? t('No votes are waiting.') : t('Votes are waiting.');
  return `${t('Vote listener: {state}.', { state })} ${votes}`;
}

export function listenerStateSection(
  {
    listener,
    queuePaused,
    refused = null,
  }: { listener: ListenerView; queuePaused: boolean | null; refused?: RefusedVote | null },
  path: string,
  now: Date,
): Html {
  const { breaker, state, waiting, unconfirmed, sentNotConfirmed } = listener;
  const last = lastDelivery(listener);
  const isFetching = listener.protocol === 'fetch';
  const mayMangle = firstBeyondAscii(listener) ? notice('attention', t(MAY_MANGLE)) : '';
  return html`${isFetching && state === 'active' ? fetchingState(listener, now, connectOf(path)) : why(listener, now)}
    ${mayMangle} ${queuePaused && !isFetching ? notice('attention', t(QUEUE_PAUSED)) : ''}
    ${facts([
      [t('Last fetched'), isFetching ? fetchedText(listener, now) : null],
      [t('Last test'), isFetching ? lastTest(listener, now) : null],
      [t('Votes waiting'), waiting === 0 ? t('none') : waitingText(waiting)],
      [t('Unconfirmed'), unconfirmed === 0 ? null : unconfirmedText(unconfirmed, path)],
      [t('Sent, not confirmed'), sentNotConfirmed === 0 ? null : sentText(sentNotConfirmed, path)],
      [
        t('Next test'),
        state === 'unreachable' && breaker.nextTestAt ? html`${nextTest(breaker.nextTestAt, now)}` : null,
      ],
      [t('Last refused'), refused && refusedText(refused, path, now)],
      [t('Last delivered'), last ? lastDelivered(last, state, now) : t('none with these settings')],
    ])}
    <div class="actions">${actions(state, path)}</div>`;
}

function lastDelivered(
  { at, confirmed }: NonNullable<ReturnType<typeof lastDelivery>>,
  state: ListenerState,
  now: Date,
): Html {
  const shown = state === 'unreachable' ? time(at) : timeAgo(at, now);
  return html`${shown}${confirmed === false ? `, ${t('not confirmed')}` : ''}`;
}

export const UNVERIFIED = defineMessage(
  'Your website has not answered the challenge yet. Send a test vote to trigger it, or wait for the first vote.',
);

const LIMITED = defineMessage(
  'The number of connections per minute is limited until the listener acknowledges its first vote.',
);

function unconfirmedText(unconfirmed: number, path: string): Html {
  const words = t('not acknowledged after the last attempt. They may have arrived.');
  const text = t('{label}: {text}', { label: waitingText(unconfirmed), text: words });
  return html`${text} ${resendLink(path, 'unconfirmed')}`;
}

function sentText(votes: number, path: string): Html {
  const words = t(
    'nothing confirmed them, as with most Votifier v1 listeners. They count as delivered. If they did not reach your game:',
  );
  const text = t('{label}: {text}', { label: waitingText(votes), text: words });
  return html`${text} ${resendLink(path, 'sent-not-confirmed')}`;
}

const connectOf = (path: string) => `${path.replace(/\/listener$/, '/connect')}#relay`;

/** A test of earlier settings does not count. */
function lastTest({ tested, updatedAt }: ListenerView, now: Date): Content {
  if (!tested || tested.at < updatedAt) return t('none with these settings');
  const result = tested.code === 'acknowledged' ? t('votes were fetched') : t('votes were not fetched');
  return html`${result}, ${timeAgo(tested.at, now)}`;
}

function refusedText({ id, username, at, words }: RefusedVote, path: string, now: Date): Html {
  const vote = html`<a href="${path.replace(/\/listener$/, '/votes')}/${id}"><bdi>${username}</bdi></a>`;
  const said = words ? html`: ${t('“<bdi>{words}</bdi>”', { words })}` : '';
  return html`${vote}, ${timeAgo(at, now)}${said}`;
}

function resendLink(path: string, state: VoteSelection): Html {
  const resend = `${path.replace(/\/listener$/, '/votes')}/resend?state=${state}`;
  return html`<a href="${resend}">${t('Send again…')}</a>`;
}

function why(listener: ListenerView, now: Date): Content {
  const { state, breaker, limited } = listener;
  const reason = listenerReason(listener);
  if (reason) {
    const title =
      state === 'unreachable'
        ? t('Unreachable')
        : reason.code
          ? t('Paused because of an error')
          : t('Paused by its owner');
    const { code, words, detail } = reason;
    const since = t('{title} since {time}', { title, time: time(reason.since) });
    const answer = words ? html` ${t('The listener’s answer: “<bdi>{words}</bdi>”', { words })}` : '';
    return notice(
      state === 'paused' ? 'attention' : 'bad',
      html`<p><strong>${since}</strong> <span class="soft">(${relative(reason.since, now)})</span></p>
        <p>${code ? t(reason.cause) : ''}${answer}${detail ? ` (${detail})` : ''}</p>
        <p>${t(reason.advice)}</p>`,
    );
  }
  if (state === 'unverified') return html`<p>${t(UNVERIFIED)}</p>`;
  if (limited && limited.until > now) {
    return html`<p>${t('The next votes are sent {time}.', { time: relative(limited.until, now) })} ${t(LIMITED)}</p>`;
  }
  if (breaker.failures === 0 || !breaker.code) return html`<p>${untroubled(listener)}</p>`;
  const times = t('{failures, plural, one {The last attempt} other {The last # attempts}} failed', {
    failures: breaker.failures,
  });
  const retries = t(
    'We retry automatically. After three failures in a row, the listener is marked unreachable.',
  );
  return html`<p>${times}: ${t(explainFor(listener, breaker.code, saidIn(breaker)).cause)} ${retries}</p>`;
}

function untroubled(listener: ListenerView): string {
  const { tested } = listener;
  switch (settingsProof(listener)) {
    case 'works':
      return t('Votes are sent as soon as they are cast.');
    case 'untested':
      return t('No vote has arrived with these settings yet. Send a test vote to check them.');
    case 'failed': {
      const { reply, detail } = tested?.result ?? {};
      const said = saidIn({ words: reply, detail });
      const cause = tested ? t(explainFor(listener, tested.code, said).cause) : '';
      // The vote may have arrived, so the text must not say that it did not.
      return tested && outcomeOf(tested.code).class === 'ambiguous'
        ? t(
            'The last test vote was not confirmed: {cause} Votes are sent anyway. Send another test vote to see each step.',
            { cause },
          )
        : t(
            'The last test vote did not arrive: {cause} Votes are sent anyway. Send another test vote to see each step.',
            { cause },
          );
    }
  }
}

function actions(state: ListenerState, path: string): Content {
  const pause = button({ to: `${path}/pause`, text: t('Pause') });
  switch (state) {
    case 'active':
    case 'unverified':
      return pause;
    case 'paused':
      return button({ to: `${path}/resume`, text: t('Resume'), kind: 'primary' });
    case 'unreachable':
      return [button({ to: `${path}/resume`, text: t('Test now'), kind: 'primary' }), pause];
  }
}
