import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { COOLDOWN_MS } from '../../votes/cast/cooldown.ts';
import { STREAK_GAP_HOURS, type VoteStreak } from '../../votes/vote-streak.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count, counted, localTime, unit } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { publicPath } from '../shared/server-paths.ts';
import { cover, picturedServer } from '../shared/server-pictures.ts';
import { reminderPath } from './vote-reminder.ts';

export function stamp({ base }: Site, server: Server, body: Content): Html {
  const banner = cover(base, picturedServer(server));
  return html`<section class="stamp">${banner}<div class="stamp-in">${body}</div></section>`;
}

/** A tick (the vote counts), a clock (vote or player waits), a cross (excluded). */
export function sign(kind: 'tick' | 'clock' | 'cross'): Html {
  const paths = { tick: 'M19 33.5l9 9 18-20', clock: 'M32 16v17l11 7', cross: 'M22 22l20 20M42 22l-20 20' };
  return html`<svg class="sign ${kind}" viewBox="0 0 64 64" aria-hidden="true"><circle cx="32" cy="32" r="30"/><path
    d="${paths[kind]}"/></svg>`;
}

/** Dots are in groups of five, like tally strokes. Only the last three groups are drawn. */
const TALLY = 5;
const MOST_DOTS = 3 * TALLY;

export function streakPanel({ streak, isOpenEnded, monthlyVotes }: VoteStreak): Content {
  if (streak === 0) return '';
  const goal = TALLY * Math.max(1, Math.ceil(streak / TALLY));
  const first = Math.max(0, goal - MOST_DOTS);
  const dots = Array.from({ length: goal - first }, (_, at) => first + at + 1);
  const classOf = (vote: number) => (vote < streak ? 'on' : vote === streak ? 'on latest' : '');
  const toGo = goal - streak;
  const next =
    toGo > 0
      ? t('{more, plural, one {# more makes} other {# more make}} it {goal} in a row.', { more: toGo, goal })
      : '';
  const figure = `${count(streak)}${isOpenEnded ? '+' : ''}`;
  return html`<section class="panel"><h2>${t('Streak')}</h2>
    <p class="fig">${figure} <small>${unit(streak, 'vote in a row')}</small></p>
    <ol class="dots" aria-hidden="true">${dots.map((vote) => html`<li class="${classOf(vote)}"></li>`)}</ol>
    <p class="soft small">${next} ${t('{votes} this month.', { votes: counted(monthlyVotes, 'vote') })}
      ${t('A streak ends {hours} hours after its last vote.', { hours: STREAK_GAP_HOURS })}</p>
  </section>`;
}

/** When the cooldown is over, a script shows the link to vote instead. */
export function nextVotePanel(site: Site, server: WithId<Server>, view: NextVote): Html {
  const { nextVoteAt, username, now } = view;
  const page = `${site.base}${publicPath(server)}`;
  const query = new URLSearchParams({ username });
  const vote = html`<a class="button vote" href="${page}/vote?${String(query)}">${t('Vote now')}</a>`;
  if (!nextVoteAt)
    return html`<section class="panel"><h2>${t('Next vote')}</h2><p class="due">${vote}</p></section>`;
  const left = Math.max(0, nextVoteAt.getTime() - now.getTime());
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${Math.floor(left / HOUR)}:${two((left % HOUR) / MINUTE)}:${two((left % MINUTE) / SECOND)}`;
  const reminder = html`<a class="button quiet" href="${site.base}${reminderPath(server, nextVoteAt)}"
      download>${icon('calendar-plus')} ${t('Calendar reminder')}</a>`;
  const share = ((100 * left) / COOLDOWN_MS).toFixed(1);
  return html`<section class="panel next" data-next-vote="${nextVoteAt.toISOString()}">
    <svg class="ring" viewBox="0 0 96 96" aria-hidden="true"><circle class="track" cx="48" cy="48" r="42"/><circle
      class="fill" cx="48" cy="48" r="42" pathLength="100" stroke-dasharray="${share} 100"
      transform="rotate(-90 48 48)"/></svg>
    <div><h2>${t('Next vote')}</h2>
      <p class="fig"><span data-left>${clock}</span> <small>${t('left')}</small></p>
      <p class="soft small">${localTime(nextVoteAt)}</p></div>
    <p class="due" hidden>${vote}</p>
    ${pauseAt(server, nextVoteAt) ? '' : html`<p class="calendar">${reminder}</p>`}
  </section>`;
}

/** `nextVoteAt` is null if the player can vote now. */
type NextVote = { nextVoteAt: Date | null; username: string; now: Date };
