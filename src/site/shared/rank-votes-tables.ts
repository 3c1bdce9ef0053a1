import { defineMessage, type Text, t } from '../../language/t.ts';
import {
  LESS_WEIGHT_REASONS,
  type LessWeightReason,
  type RankDay,
  sumOfDays,
} from '../../ranking/evidence/rank-votes.ts';
import {
  API_VOTES_A_PLAYER,
  ASSUMED_PLAYERS,
  FEWEST,
  FULL_OF_NETWORK,
  NEVER_WAITING,
  NEW_NAMES_A_PLAYER,
  TENTHS_OF_NETWORK,
  VOTES_A_PLAYER,
} from '../../ranking/evidence/weigh-day.ts';
import { KNOWN_AFTER } from '../../votes/vote.ts';
import { count, counted, day, decimal } from './format.ts';
import { type Html, html } from './html.ts';
import { dataTable } from './parts.ts';

const SHORT: Record<LessWeightReason, Text> = {
  network: defineMessage('of one network'),
  newcomers: defineMessage('of new names'),
  api: defineMessage('through the API'),
  unknown: defineMessage('through the API, of unknown names'),
  waiting: defineMessage('waiting for an operator'),
  later: defineMessage('since the last ranking'),
};

function sentenceOf(reason: LessWeightReason): string {
  switch (reason) {
    case 'network':
      return t(
        'More than {full} votes of a day came from one network: {tenths} further ones count a tenth each, the rest not.',
        { full: FULL_OF_NETWORK, tenths: TENTHS_OF_NETWORK },
      );
    case 'newcomers':
      return t(
        'More new names voted on a day than {each} for each player, and more than {fewest}: further ones count a tenth.',
        { each: NEW_NAMES_A_PLAYER, fewest: FEWEST },
      );
    case 'api':
      return t(
        'More votes of a day came through the API than {each} for each player, and more than {fewest}: further ones count a tenth.',
        { each: API_VOTES_A_PLAYER, fewest: FEWEST },
      );
    case 'unknown':
      return t(
        'More than {fewest} votes of a day came through the API with names that voted on this server’s page less than {known} times: those above do not count for the rank until an operator allows them.',
        { fewest: FEWEST, known: KNOWN_AFTER },
      );
    case 'waiting':
      return t(
        'A day had more votes than {each} for each player, and more than {fewest}: those above do not count for the rank until an operator allows them.',
        { each: VOTES_A_PLAYER, fewest: NEVER_WAITING },
      );
    case 'later':
      return t('They were cast since the last ranking. The next one counts them.');
  }
}

export function rankVotesTables(days: RankDay[]): Html {
  const sum = sumOfDays(days);
  const reasons = LESS_WEIGHT_REASONS.filter((reason) => sum[reason] > 0);
  if (reasons.length === 0) {
    const all = t('All votes of the last {days} days count in full for the rank.', { days: days.length });
    return html`<p class="small">${all}</p>`;
  }
  const weight = t(
    'The {votes} of the last {days} days count as <strong>{rankVotes}</strong> for the rank.',
    {
      votes: counted(sum.votes, 'vote'),
      days: days.length,
      rankVotes: decimal(sum.rankVotes),
    },
  );
  return html`<p class="small">${weight}</p>
    ${dataTable({
      caption: t('Votes that weigh less for the rank'),
      rows: reasons,
      empty: '',
      columns: [
        { title: t('Reason'), heads: true, cell: sentenceOf },
        { title: t('Votes'), kind: 'number', cell: (reason) => count(sum[reason]) },
      ],
    })}
    ${daysTable(days.filter((one) => LESS_WEIGHT_REASONS.some((reason) => one[reason] > 0)).toReversed())}`;
}

export function rankDayColumns() {
  return [
    { title: t('Day'), heads: true, cell: (one: RankDay) => day(new Date(one.day)) },
    { title: t('Votes'), kind: 'number' as const, cell: ({ votes }: RankDay) => count(votes) },
    {
      title: t('For the rank'),
      kind: 'number' as const,
      cell: ({ rankVotes }: RankDay) => decimal(rankVotes),
    },
  ];
}

function daysTable(days: RankDay[]): Html {
  return dataTable({
    caption: t('Days on which votes weigh less'),
    rows: days,
    empty: '',
    columns: [
      ...rankDayColumns(),
      { title: t('Players counted'), kind: 'number', cell: playersText },
      {
        title: t('Reason'),
        cell: (one) =>
          LESS_WEIGHT_REASONS.filter((reason) => one[reason] > 0)
            .map((reason) => `${count(one[reason])} ${t(SHORT[reason])}`)
            .join(', '),
      },
    ],
  });
}

function playersText({ players, seen }: RankDay): string {
  if (players === undefined) return '–';
  if (seen !== undefined && players !== null)
    return t('{players} of {seen}: unusually many', { players: count(players), seen: count(seen) });
  return players === null ? t('not seen: {players} assumed', { players: ASSUMED_PLAYERS }) : count(players);
}
