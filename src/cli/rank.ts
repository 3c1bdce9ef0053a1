import type { Command } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import { allowVotes } from '../ranking/evidence/allow-votes.ts';
import {
  LESS_WEIGHT_REASONS,
  type LessWeightReason,
  type RankDay,
  sumOfDays,
} from '../ranking/evidence/rank-votes.ts';
import {
  type DecidingFigure,
  explainRank,
  type RankExplanation,
  type RankFigures,
} from '../ranking/explain-rank.ts';
import { recomputeRanks } from '../ranking/recompute-ranks.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { noLongerListed, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { countWithNoun, iso, when } from './output-format.ts';
import { pairs, table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addRankCommands(rank: Command, terminal: Terminal): void {
  rank
    .addHelpText('after', examples(terminal, 'rank', 'rank explain alpha-craft'))
    .action(withDeps(terminal, recompute, { longRun: true }));

  rank
    .command('explain')
    .description('show the figures behind a server’s rank')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'rank explain alpha-craft'))
    .action(withDeps(terminal, explain));

  rank
    .command('allow')
    .description('let so many votes of a server a day count for its rank without evidence; 0 takes it back')
    .argument('<server>', 'id or slug')
    .argument('<votes>', 'votes a UTC day')
    .requiredOption('--reason <text>', 'why, for operators; in the audit log')
    .addHelpText('after', examples(terminal, 'rank allow alpha-craft 600 --reason "a streamer played here"'))
    .action(withDeps(terminal, allow));
}

async function allow(
  deps: AppDeps,
  text: string,
  votes: string,
  { reason }: { reason: string },
): Promise<Answer> {
  const { _id, slug } = await requireServer(deps, text);
  const server = await allowVotes(deps, _id, { votes, reason }, 'cli');
  if (!server) throw noLongerListed(text);
  const allowed = server.voteAllowance?.votes ?? 0;
  return {
    json: { server_id: _id.toHexString(), votes_a_day: allowed },
    text: `${countWithNoun(allowed, 'vote')} of ${slug} a day need no evidence. The next ranking counts them.`,
  };
}

async function recompute(deps: AppDeps): Promise<Answer> {
  const { servers, moved, weighed } = await recomputeRanks(deps);
  return {
    json: { servers, moved, weighed },
    text: `Ranked ${countWithNoun(servers, 'server')}; ${moved} ${moved === 1 ? 'has' : 'have'} a new rank.`,
  };
}

async function explain(deps: AppDeps, text: string): Promise<Answer> {
  const server = await requireServer(deps, text);
  if (server.hiddenAt)
    throw new CommandError('server-hidden', `An operator has hidden ${server.slug}: it has no rank.`);
  const explanation = await explainRank(deps, server);
  return { json: explanationJson(explanation), text: explanationText(explanation, deps.clock.now()) };
}

function figuresJson({ serverId, slug, rank, votesCount, rankVotes, probedUptime, listedAt }: RankFigures) {
  return {
    server_id: serverId.toHexString(),
    slug,
    rank_position: rank,
    votes_count: votesCount,
    rank_votes: rankVotes,
    probed_uptime: probedUptime,
    listed_at: iso(listedAt),
  };
}

function explanationJson({ server, rankedAt, serverCount, days, above, below }: RankExplanation) {
  const neighbour = (next: RankExplanation['above']) => next && { ...figuresJson(next), decided_by: next.by };
  return {
    ...figuresJson(server),
    ranked_at: iso(rankedAt),
    listed: serverCount,
    votes_by_day: Object.fromEntries(days.map(({ day, votes }) => [day, votes])),
    rank_votes_by_day: Object.fromEntries(days.map(({ day, rankVotes }) => [day, rankVotes])),
    votes_weighing_less: Object.fromEntries(
      LESS_WEIGHT_REASONS.map((reason) => [reason, sumOfDays(days)[reason]]),
    ),
    above: neighbour(above),
    below: neighbour(below),
  };
}

const DECIDING_FIGURES: Record<DecidingFigure, string> = {
  pause: 'paused servers are last',
  votes: 'by what its votes weigh',
  uptime: 'same votes; by probed uptime',
  listed: 'same votes and uptime; the older listing is first',
  id: 'same in all; the lower id is first',
};

function uptime(percentage: number | null): string {
  return percentage === null ? 'none' : `${percentage.toFixed(2)} %`;
}

const LESS_WEIGHT_TEXTS: Record<LessWeightReason, string> = {
  network: 'of one network',
  newcomers: 'of new names',
  api: 'through the API',
  unknown: 'through the API, of unknown names',
  waiting: 'waiting for an operator',
  later: 'since the last ranking',
};

function reasonsText(day: RankDay): string {
  return LESS_WEIGHT_REASONS.filter((reason) => day[reason] > 0)
    .map((reason) => `${day[reason]} ${LESS_WEIGHT_TEXTS[reason]}`)
    .join(', ');
}

function explanationText(explanation: RankExplanation, now: Date): string {
  const { server, rankedAt, serverCount, days } = explanation;
  const ranked =
    server.votesCount === null ? 'not yet: it is last until the next ranking' : when(rankedAt, now);
  return [
    pairs([
      ['Rank', `${server.rank} of ${serverCount}`],
      ['Ranked', ranked],
    ]),
    '',
    neighboursText(explanation, now),
    '',
    votesText(explanation),
    daysText(days),
  ].join('\n');
}

function neighboursText({ server, above, below }: RankExplanation, now: Date): string {
  const row = (figures: RankFigures, why: string) => [
    figures.rank,
    figures.slug,
    figures.votesCount ?? '-',
    figures.rankVotes ?? '-',
    uptime(figures.probedUptime),
    when(figures.listedAt, now),
    why,
  ];
  const rows = [
    ...(above ? [row(above, DECIDING_FIGURES[above.by])] : []),
    row(server, ''),
    ...(below ? [row(below, DECIDING_FIGURES[below.by])] : []),
  ];
  return table(
    ['RANK', 'SLUG', 'VOTES', 'FOR THE RANK', 'PROBED UPTIME', 'LISTED', 'WHY IT IS NEXT'],
    rows,
    '',
  );
}

function votesText({ server: { votesCount }, days }: RankExplanation): string {
  const { votes } = sumOfDays(days);
  const since = votes === (votesCount ?? 0) ? '' : `; ${votes} now, which the next ranking counts`;
  return `Votes of ${days[0]?.day} to ${days.at(-1)?.day}: ${votesCount ?? '-'}${since}.`;
}

function daysText(days: RankDay[]): string {
  const rows = days
    .filter(({ votes }) => votes > 0)
    .map((day) => [day.day, day.votes, day.rankVotes, reasonsText(day)]);
  return table(['DAY', 'VOTES', 'FOR THE RANK', 'VOTES THAT WEIGH LESS'], rows, 'No day has votes.');
}
