import { type Command, Option } from 'commander';
import { removeGoal, setGoal } from '../goals/change-goal.ts';
import { GOAL_PERIODS, type GoalRound, LONGEST_GOAL_TEXT, MOST_TARGET } from '../goals/goal.ts';
import { type GoalProgress, readGoalProgress } from '../goals/goal-progress.ts';
import { lastRounds } from '../goals/goal-rounds.ts';
import { plural } from '../language/plural.ts';
import type { AppDeps } from '../process/app-deps.ts';
import type { Server } from '../servers/server.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, noLongerListed, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { goalTarget } from './option-values.ts';
import { iso, utc } from './output-format.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addGoalCommands(goal: Command, terminal: Terminal): void {
  goal
    .command('set')
    .description('begin a goal from zero; the same votes and period again only change the text')
    .argument('<server>', 'id or slug')
    .requiredOption(
      '--votes <n>',
      `votes that reach it, up to ${MOST_TARGET.toLocaleString('en')}`,
      goalTarget,
    )
    .addOption(
      new Option('--period <period>', 'votes of a UTC day, of a week from Monday, of a month, or in rounds')
        .choices(GOAL_PERIODS)
        .makeOptionMandatory(),
    )
    .option('--text <sentence>', `what happens then, up to ${LONGEST_GOAL_TEXT} characters; without it, none`)
    .addHelpText(
      'after',
      examples(terminal, 'goal set alpha-craft --votes 500 --period rolling --text "Double experience"'),
    )
    .action(withDeps(terminal, set));

  goal
    .command('show')
    .description('show the goal, its votes, and the rounds that were reached last')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'goal show alpha-craft'))
    .action(withDeps(terminal, show));

  goal
    .command('remove')
    .description('end the goal; players no longer see it')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'goal remove alpha-craft'))
    .action(withDeps(terminal, remove));
}

type SetOptions = { votes: number; period: string; text?: string };

async function set(deps: AppDeps, name: string, { votes, period, text }: SetOptions): Promise<Answer> {
  const server = await requireServer(deps, name);
  if (!(await setGoal(deps, server._id, { target: votes, period, text }, BY))) throw noLongerListed(name);
  const goal = await requireGoal(deps, server);
  return { json: goalJson(goal), text: `${server.slug}: ${goalText(goal)}` };
}

const SHOWN_ROUNDS = 20;

async function show(deps: AppDeps, name: string): Promise<Answer> {
  const server = await requireServer(deps, name);
  const goal = await requireGoal(deps, server);
  const rounds = await lastRounds(deps, server._id, SHOWN_ROUNDS);
  const list = table(
    ['ROUND', 'REACHED', 'GOAL', 'VOTES', 'TEXT'],
    rounds.map(({ round, at, target, votes, text }) => [round, utc(at), target, votes, text ?? '-']),
    'It was not reached yet.',
  );
  return {
    json: { ...goalJson(goal), rounds: rounds.map(roundJson) },
    text: `${server.slug}: ${goalText(goal)}\n\n${list}`,
  };
}

async function remove(deps: AppDeps, name: string): Promise<Answer> {
  const server = await requireServer(deps, name);
  const removed = await removeGoal(deps, server._id, BY);
  if (!removed) throw noGoal(server);
  const { target, period } = removed;
  return { json: { target, period }, text: `The goal of ${server.slug} is removed: ${target}, ${period}.` };
}

async function requireGoal(deps: AppDeps, server: Server): Promise<GoalProgress> {
  const goal = await readGoalProgress(deps, server._id);
  if (!goal) throw noGoal(server);
  return goal;
}

function noGoal({ slug }: Server): CommandError {
  return new CommandError('no-goal', `${slug} has no vote goal.`);
}

function goalText({ votes, target, period, text, since, timesReached }: GoalProgress): string {
  const which = period === 'rolling' ? 'in this round' : `of this ${period}`;
  const times = timesReached === 1 ? 'once' : `${timesReached} times`;
  return [
    `${votes} of ${target} ${plural(target, 'vote', 'votes')} ${which}, set ${utc(since)}, reached ${times}.`,
    ...(text ? [`Then: ${text}`] : []),
  ].join('\n');
}

function goalJson({ target, period, votes, percentage, text, since, reachedAt, timesReached }: GoalProgress) {
  return {
    target,
    period,
    votes,
    percentage,
    text,
    since: since.toISOString(),
    reached_at: iso(reachedAt),
    times_reached: timesReached,
  };
}

function roundJson({ round, target, period, text, votes, at }: GoalRound): object {
  return { round, target, period, votes, text: text ?? null, reached_at: at.toISOString() };
}
