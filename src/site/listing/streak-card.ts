import { html } from 'hono/html';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import type { Html } from '../html.ts';
import { card, facts } from '../parts.ts';
import { counted, localTime } from '../words.ts';

/** What a player's votes for a server add up to. */
export function streakCard(
  username: string,
  { monthlyVotes, streak, isOpenEnded, nextVoteAt }: VoteStreak,
): Html {
  const length = `${counted(streak, 'vote')}${isOpenEnded ? ' or more' : ''}`;
  return card({
    title: html`Votes of <bdi>${username}</bdi>`,
    body: facts([
      ['This month', counted(monthlyVotes, 'vote')],
      ['Streak', streak === 0 ? 'none' : `${length} in a row, at most 48 hours apart`],
      ['Next vote', nextVoteAt ? localTime(nextVoteAt) : 'now'],
    ]),
  });
}
