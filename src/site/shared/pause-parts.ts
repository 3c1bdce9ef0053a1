import { t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import type { ListingPause, Pausable } from '../../servers/listing-pause.ts';
import { day, localTime } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { notice } from './parts.ts';

/** A day if it is the beginning of a UTC day, otherwise the time. */
export function returnTime(until: Date): Html {
  return until.getTime() % DAY === 0 ? day(until) : localTime(until);
}

/** In place of the vote form. */
export function pausedVoting({ listingPause }: Pick<Pausable, 'listingPause'>): Html {
  const back = listingPause?.until
    ? t('Votes are possible again from {day}.', { day: returnTime(listingPause.until) })
    : '';
  return html`<p class="soft">${t('The owner has paused this server, so it takes no votes now.')} ${back}</p>`;
}

/** At the head of the public page, and of the owner's pages. */
export function pauseNotice({ at, until, text }: ListingPause, more: Content = ''): Html {
  const state = until
    ? t('This server has been paused since {day} and returns on {until}.', {
        day: day(at),
        until: returnTime(until),
      })
    : t('This server has been paused since {day}.', { day: day(at) });
  return notice(
    'attention',
    html`${state} ${text ? t('“<bdi>{words}</bdi>”', { words: text }) : ''} ${more}`,
  );
}
