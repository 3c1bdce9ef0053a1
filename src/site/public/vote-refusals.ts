import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import { VOTE_FORM_CODES, type VoteFormCode } from '../../http/error-codes.ts';
import type { Refusal } from '../../http/http-errors.ts';
import { defineMessage, t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { PageVoteResult } from '../../votes/cast/cast-from-page.ts';
import { PROOF_OF_WORK_ERRORS } from '../../votes/web/proof-of-work.ts';
import { sentencesOf, type Typed } from '../shared/form.ts';
import { count, counted, timeText } from '../shared/format.ts';

/** Tells the form's script that the sentence is about the name. */
const ABOUT_NAME = { field: 'username' };

export function incomplete({ errors }: Typed): Refusal {
  const sentence = errors.username ?? t('Enter the name of your player.');
  return { status: 400, sentence, code: 'malformed', fields: ABOUT_NAME };
}

/** `rule` is a rule for names in the server's game. */
export function wrongName(rule: string): Refusal {
  const { sentence = '' } = sentencesOf({ sentence: rule });
  return { status: 400, sentence, code: 'malformed', fields: ABOUT_NAME };
}

/** MongoDB did not say whether the vote was inserted. */
export function resultUnknown(): Refusal {
  return {
    status: 503,
    sentence: t('Your vote may have been counted. Vote again: if it was counted, the page says so.'),
    headers: { 'retry-after': '5' },
    code: 'result-unknown',
  };
}

/** The same answer for blocked names and blocked networks, so that nobody can find out what is blocked. */
const NOT_ACCEPTED = defineMessage(
  'This vote is not accepted. If you think that this is a mistake, contact the operator of this listing.',
);

const PAUSED_VOTES = defineMessage(
  'The owner has paused this server. It takes no votes until the pause ends.',
);

export function voteRefusal(
  result: Exclude<PageVoteResult, { kind: 'accepted' }>,
  { clock }: AppDeps,
): Refusal {
  switch (result.kind) {
    case 'refused': {
      const { vote, nextVoteAt } = result;
      const seconds = secondsUntil(nextVoteAt, clock.now());
      return {
        status: 429,
        sentence: t('“{username}” voted for this server on {time}. The next vote is possible on {next}.', {
          username: vote.username,
          time: timeText(vote.votedAt),
          next: timeText(nextVoteAt),
        }),
        headers: { 'retry-after': String(seconds) },
        code: 'cooldown',
        fields: { next_vote_at: nextVoteAt.toISOString() },
      };
    }
    case 'off':
      return refused(
        'web-votes-off',
        result.by === 'owner'
          ? t('The owner of this server has switched off votes on this page. Vote as the owner describes.')
          : t('Votes on this page are switched off. Vote as the owner of the server describes.'),
      );
    case 'listing-paused':
      return { status: 403, sentence: t(PAUSED_VOTES), code: 'listing-paused' };
    case 'no-proof':
      return refused(result.why, t(PROOF_OF_WORK_ERRORS[result.why]));
    case 'not-proven':
      return refused(
        'identity-not-proven',
        t(
          'This server takes votes only from players who signed in through Steam. Your vote is not used up: sign in on the vote page, then vote.',
        ),
      );
    case 'blocked':
      return refused('vote-not-accepted', t(NOT_ACCEPTED));
    case 'too-many-players':
      return {
        ...refused('too-many-players', tooManyPlayers(result)),
        headers: {
          'retry-after': String(secondsUntil(startOfDay(addDays(dayOf(clock.now()), 1)), clock.now())),
        },
      };
  }
}

function refused(code: VoteFormCode, sentence: string): Refusal {
  return { status: VOTE_FORM_CODES[code], sentence, code };
}

function tooManyPlayers({ by, most }: Extract<PageVoteResult, { kind: 'too-many-players' }>): string {
  switch (by) {
    case 'account':
      return t('You have voted for this server as another player today. An account counts as one player.');
    case 'new-players':
      return t(
        'Your network has voted for this server as {players} today. Sign in with an account that is older than {days} days to vote as one more, or vote tomorrow: the day ends at midnight UTC.',
        { days: ESTABLISHED_AFTER_DAYS, players: counted(most, 'new player') },
      );
    case 'network':
      return t(
        'Your network has voted for this server as {players} today, and more are not possible. Vote from another network, or tomorrow: the day ends at midnight UTC.',
        { players: counted(most, 'player') },
      );
    case 'votes-of-account':
      return t(
        'You have voted for {number} servers today, and more are not possible. Vote again tomorrow: the day ends at midnight UTC.',
        { number: count(most) },
      );
    case 'votes-of-network':
      return t(
        'Too many votes came from your network today. Vote with an account that is older than {days} days, from another network, or tomorrow: the day ends at midnight UTC.',
        { days: ESTABLISHED_AFTER_DAYS },
      );
  }
}

function secondsUntil(at: Date, now: Date): number {
  return Math.max(1, Math.ceil((at.getTime() - now.getTime()) / SECOND));
}
