import type { ListenerView } from '../../delivery/change-listener.ts';
import { lastTest } from '../../delivery/diagnosis/diagnosis.ts';
import { TEST_USERNAME } from '../../delivery/vote-message.ts';
import { t } from '../../language/t.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { LISTENER_STATE_NAMES } from '../shared/listener-state-parts.ts';
import { button, card } from '../shared/parts.ts';
import { diagnosisResult } from './diagnosis-texts.ts';

/** The card that explains the test vote, with a button that sends one, and the result of the last test. */
export function testCard(path: string, listener: ListenerView, now: Date): Html {
  const { state, protocol } = listener;
  if (protocol === 'fetch') return fetchTestCard(path, listener, now);
  const about = t('Sends a marked vote of the player “{player}” and shows each step. It is not counted.', {
    player: TEST_USERNAME,
  });
  const sentAnyway =
    state === 'active'
      ? ''
      : ` ${t('It is sent even though the listener is {state}.', { state: t(LISTENER_STATE_NAMES[state]) })}`;
  return card({
    title: t('Test vote'),
    body: html`<p>${about}${sentAnyway}</p>
      <div>${button({ to: `${path}/test`, text: t('Send test vote'), kind: 'primary' })}</div>
      ${lastResult(listener, now)}`,
  });
}

/** The card of the test if the server fetches its votes. */
function fetchTestCard(path: string, listener: ListenerView, now: Date): Html {
  const about = t(
    'Waits for the next call of the program that fetches your votes, and shows which program it is. No vote is handed out for the test.',
  );
  return card({
    title: t('Test'),
    body: html`<p>${about}</p>
      <div>${button({ to: `${path}/test`, text: t('Wait for the next call'), kind: 'primary' })}</div>
      ${lastResult(listener, now)}`,
  });
}

/** The result of the last test. Empty if the settings have changed since then. */
function lastResult(listener: ListenerView, now: Date): Content {
  const last = lastTest(listener);
  if (!last) return '';
  return html`<h3>${t('Last test, {time}', { time: timeAgo(last.at, now) })}</h3>
    ${diagnosisResult(last.diagnosis, listener)}`;
}
