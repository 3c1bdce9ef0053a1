import type { WithId } from 'mongodb';
import { statusAt } from '../../history/current-status.ts';
import { t } from '../../language/t.ts';
import { FORGOTTEN_AFTER_MINUTES, settingsProof } from '../../listeners/listener-state.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fetchedText } from '../shared/fetch-state.ts';
import { counted, duration } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type IconName, icon } from '../shared/icon.ts';
import {
  lastVoteText,
  shortNextTest,
  shortReason,
  UNVERIFIED,
  waitingText,
} from '../shared/listener-state-parts.ts';
import { linkTo } from '../shared/parts.ts';
import { isDescribed, type Step } from './first-steps.ts';
import type { Todo, TodoListener } from './server-todo.ts';

/** A sentence about a server. With `bad` and `attention`, its owner must do something. */
export type Remark = { tone: 'bad' | 'attention' | 'good' | 'quiet'; icon: IconName; text: Content };

type About = { steps: Step[]; isClaimed: boolean; now: Date };

const b = (text: Html) => html`<b>${text}</b>`;

/** First the listener or, for a new server, its next step; then all else that waits for the owner. */
export function remarksOf(base: string, server: WithId<Server>, todo: Todo, about: About): Remark[] {
  const { steps, now } = about;
  const to = (part: string) => linkTo(serverPath(base, server, part));
  return [
    steps.length > 0 && todo.listener?.trouble !== 'bad'
      ? nextStep(steps)
      : listenerRemark(base, server, todo.listener, about),
    offline(server, to('/settings'), now),
    pauseAt(server, now) &&
      remark(
        'quiet',
        'pause',
        t('The server is paused here. <a>Change or end the pause</a>.', { a: to('/settings') }),
      ),
    todo.unanswered > 0 && remark('attention', 'star', unanswered(todo.unanswered, to('/reviews'))),
    todo.troubled > 0 &&
      remark(
        'attention',
        'radio-tower',
        t('<a>Destinations of events</a> that take nothing: {number}.', {
          number: todo.troubled,
          a: to('/events'),
        }),
      ),
    server.hiddenAt &&
      remark('attention', 'eye-off', t('Hidden by an operator. <a>See the reason</a>.', { a: to('') })),
    steps.length === 0 &&
      !isDescribed(server) &&
      remark(
        'quiet',
        'image',
        t('No text for players yet. <a>Describe the server</a>.', { a: to('/profile') }),
      ),
  ].filter((one) => one !== false && one !== null && one !== undefined) as Remark[];
}

function remark(tone: Remark['tone'], name: IconName, text: Content): Remark {
  return { tone, icon: name, text };
}

function nextStep(steps: Step[]): Remark {
  const next = steps.find(({ done }) => !done);
  const done = steps.filter((step) => step.done).length;
  const text = t('<b>{done} of {steps} steps done.</b> Next: <a>{step}</a>', {
    b,
    a: linkTo(next?.href ?? ''),
    done,
    steps: steps.length,
    step: next?.title ?? '',
  });
  return remark('attention', 'list-checks', text);
}

function listenerRemark(
  base: string,
  server: WithId<Server>,
  listener: TodoListener | null,
  { isClaimed, now }: About,
): Remark {
  if (!listener && isClaimed) return remark('good', 'check', t('A plugin claims the votes.'));
  if (!listener)
    return remark('quiet', 'unplug', t('No vote listener. Votes are counted, and you can send them later.'));
  const { trouble } = listener;
  if (!trouble) {
    const last = listener.protocol === 'fetch' ? fetchedText(listener, now) : lastVoteText(listener, now);
    return remark('good', 'check', html`${t('Votes arrive.')} ${last}`);
  }
  const see = html`<a href="${serverPath(base, server, '/listener')}">${t('See what to do')}</a>`;
  const votes = waitingText(listener.waiting);
  const waits = listener.waiting > 0 ? html`<b>${t('Votes waiting: {votes}.', { votes })}</b> ` : '';
  return remark(
    trouble,
    trouble === 'bad' ? 'unplug' : 'radio-tower',
    html`${waits}${troubleText(listener, now)} ${see}`,
  );
}

function troubleText(listener: TodoListener, now: Date): Content {
  const { state, protocol, isNeglected } = listener;
  if (isNeglected)
    return t('Nobody has fetched them for over {minutes} minutes.', { minutes: FORGOTTEN_AFTER_MINUTES });
  if (state === 'unreachable')
    return html`${t('The vote listener is unreachable.')} ${shortNextTest(listener, now)}`;
  if (state === 'paused') return html`${t('The vote listener is paused.')} ${shortReason(listener, now)}`;
  if (state === 'unverified') return t(UNVERIFIED);
  if (protocol === 'fetch') return t('Nobody has fetched votes yet.');
  return settingsProof(listener) === 'failed'
    ? t('The last test vote did not arrive, or was not confirmed.')
    : t('No vote has arrived with these settings yet. Send a test vote to check them.');
}

function offline(server: WithId<Server>, a: (text: Html) => Html, now: Date): Remark | null {
  const since = server.probe.offlineSince;
  if (!since || statusAt(server, now) !== 'offline') return null;
  const time = duration(now.getTime() - since.getTime());
  return remark('attention', 'clock', t('Offline for {time}. <a>Check the address</a>', { time, a }));
}

function unanswered(reviews: number, a: (text: Html) => Html): Content {
  return t('<a>{reviews}</a> {number, plural, one {has no answer yet.} other {have no answer yet.}}', {
    number: reviews,
    reviews: counted(reviews, 'review'),
    a,
  });
}

export function needsOwner({ tone }: Remark): boolean {
  return tone === 'bad' || tone === 'attention';
}

export function remarkList(remarks: Remark[], kind: 'remarks' | 'remarks todo'): Content {
  if (remarks.length === 0) return '';
  return html`<ul class="${kind}">${remarks.map(
    (one) => html`<li class="${one.tone}">${icon(one.icon)}<span>${one.text}</span></li>`,
  )}</ul>`;
}
