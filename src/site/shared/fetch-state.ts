import type { ListenerView } from '../../delivery/change-listener.ts';
import { t } from '../../language/t.ts';
import { FORGOTTEN_AFTER_MINUTES, isNeglected } from '../../listeners/listener-state.ts';
import { OUTCOMES } from '../../listeners/outcomes.ts';
import { timeAgo } from './format.ts';
import { type Html, html } from './html.ts';
import { linkTo, notice } from './parts.ts';

type Fetching = Pick<ListenerView, 'protocol' | 'pause' | 'fetched' | 'updatedAt' | 'queuedSince'>;

export function fetchedText({ fetched }: Pick<ListenerView, 'fetched'>, now: Date): Html {
  if (!fetched) return html`${t('Nobody has fetched votes yet.')}`;
  const at = { time: timeAgo(fetched.at, now) };
  // `tallyport-relay/1.0 (Java 21)` becomes `tallyport-relay 1.0 (Java 21)`.
  const program = fetched.agent?.replace(/^([^\s/]+)\/(\S+)/, '$1 $2');
  return program
    ? html`${t('Fetched {time} by <bdi>{program}</bdi>.', { ...at, program })}`
    : html`${t('Fetched {time}.', at)}`;
}

export function fetchingState(listener: Fetching, now: Date, connectPath: string): Html {
  const start = t('Start the relay or your plugin: “<a>Connect</a>” has both.', {
    a: linkTo(connectPath),
  });
  if (isNeglected(listener, listener.queuedSince, now)) {
    return notice(
      'bad',
      html`<p><strong>${t('Votes wait, and nobody has fetched them for over {minutes} minutes.', {
        minutes: FORGOTTEN_AFTER_MINUTES,
      })}</strong></p>
        <p>${t(OUTCOMES['not-fetched'].text.advice)}</p>`,
    );
  }
  return listener.fetched
    ? html`<p>${t('Your server fetches its votes. No port needs to be open.')}</p>`
    : html`<p>${t('Your server is to fetch its votes, and has not done so yet.')} ${start}</p>`;
}
