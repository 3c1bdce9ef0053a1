import { t } from '../../language/t.ts';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import { counted, localTime } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { card, facts } from '../shared/parts.ts';

/** The card about a player's votes for a server: those of this month, the streak, and the time of the next vote. */
export function streakCard(
  username: string,
  { monthlyVotes, streak, isOpenEnded, nextVoteAt }: VoteStreak,
): Html {
  const length = `${counted(streak, 'vote')}${isOpenEnded ? ` ${t('or more')}` : ''}`;
  return card({
    title: html`${t('Votes of <bdi>{username}</bdi>', { username })}`,
    body: facts([
      [t('This month'), counted(monthlyVotes, 'vote')],
      [
        t('Streak'),
        streak === 0 ? t('none') : t('{votes} in a row, at most 48 hours apart', { votes: length }),
      ],
      [t('Next vote'), nextVoteAt ? localTime(nextVoteAt) : t('now')],
    ]),
  });
}
