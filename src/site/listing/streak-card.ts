import { html } from 'hono/html';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import type { Html } from '../html.ts';
import { card, facts } from '../parts.ts';
import { counted, localTime } from '../words.ts';

/** What a player's votes for a server add up to. */
export function streakCard(username: string, { monthlyVotes, streak, nextVoteAt }: VoteStreak): Html {
  return card({
    title: html`Votes of <bdi>${username}</bdi>`,
    body: facts([
      ['This month', counted(monthlyVotes, 'vote')],
      ['Streak', streak === 0 ? 'none' : `${counted(streak, 'vote')} in a row, at most 48 hours apart`],
      ['Next vote', nextVoteAt ? localTime(nextVoteAt) : 'now'],
    ]),
  });
}
