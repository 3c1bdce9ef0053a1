import { type Command, Option } from 'commander';
import { voteTimeline } from '../delivery/timeline/vote-timeline.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import { isConfirmed, VOTE_SELECTIONS, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import { stateNameOf } from '../votes/state-names.ts';
import { usernameSchema } from '../votes/username.ts';
import type { Vote } from '../votes/vote.ts';
import { endCooldown, findVote, listVotes } from '../votes/vote-list.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, requireServer, uuidOf } from './find.ts';
import { examples } from './invocation.ts';
import { limit } from './option-values.ts';
import { iso, when } from './output-format.ts';
import { addResendCommands } from './resend.ts';
import { queuePaused } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { timelineJson, timelineText } from './timeline.ts';
import { addVoteExclusionCommands } from './vote-exclusion.ts';

export function addVoteCommands(vote: Command, terminal: Terminal): void {
  vote
    .command('list')
    .description('show a server’s votes, newest first')
    .argument('<server>', 'id or slug; also of a removed server')
    .addOption(
      new Option(
        '--state <state>',
        'only votes in this state; delivered includes sent-not-confirmed',
      ).choices(VOTE_SELECTIONS),
    )
    .option('--limit <n>', 'how many', limit, 20)
    .addHelpText('after', examples(terminal, 'vote list alpha-craft --state waiting --limit 100'))
    .action(withDeps(terminal, list));

  vote
    .command('show')
    .description('show a vote’s timeline with every attempt')
    .argument('<vote_id>', 'the Vote-Id from the API’s answer')
    .addHelpText('after', examples(terminal, 'vote show 0199f3a2-7b1c-7e55-9c1e-5f0d8a6b4c21'))
    .action(withDeps(terminal, show));

  addResendCommands(vote, terminal);
  addVoteExclusionCommands(vote, terminal);

  vote
    .command('forget')
    .description(`end a player’s ${COOLDOWN_HOURS} hours early, to test plugins; the vote still counts`)
    .argument('<server>', 'id or slug')
    .argument('<username>', 'the player, in any spelling')
    .addHelpText('after', examples(terminal, 'vote forget alpha-craft Steve'))
    .action(withDeps(terminal, forget));
}

async function list(
  deps: AppDeps,
  text: string,
  options: { state?: VoteSelection; limit: number },
): Promise<Answer> {
  const server = await requireServer(deps, text, { removed: true });
  const votes = await listVotes(deps, server._id, options);
  const now = deps.clock.now();
  const rows = votes.map((vote) => [
    vote._id.toString(),
    vote.username,
    when(vote.votedAt, now),
    stateNameOf(vote.delivery),
    vote.delivery.attemptCount,
    lastCode(vote) ?? '-',
    vote.quarantinedAt ? 'quarantined' : vote.excludedAt ? 'excluded' : 'yes',
  ]);
  return {
    json: { votes: votes.map(summaryJson) },
    text: table(
      ['VOTE ID', 'PLAYER', 'CAST', 'STATE', 'ATTEMPTS', 'LAST OUTCOME', 'COUNTS'],
      rows,
      'There is no vote to show.',
    ),
  };
}

function lastCode({ delivery }: Vote): string | null {
  return delivery.attempts.at(-1)?.code ?? null;
}

function summaryJson(vote: Vote): Record<string, unknown> {
  const { delivery } = vote;
  return {
    vote_id: vote._id.toString(),
    username: vote.username,
    voted_at: iso(vote.votedAt),
    state: delivery.state,
    confirmed: isConfirmed(delivery),
    attempt_count: delivery.attemptCount,
    last_code: lastCode(vote),
    next_at: iso(delivery.nextAt),
    delivered_at: iso(delivery.deliveredAt),
    excluded_at: iso(vote.excludedAt),
  };
}

async function voteOf(deps: AppDeps, text: string): Promise<Vote> {
  const voteId = uuidOf(text);
  const vote = voteId && (await findVote(deps, voteId));
  if (!vote) throw noSuchVote(text);
  return vote;
}

function noSuchVote(text: string): CommandError {
  return new CommandError('vote-not-found', `There is no vote with the id “${text}”.`);
}

async function show(deps: AppDeps, text: string): Promise<Answer> {
  const vote = await voteOf(deps, text);
  const { serverId } = vote;
  const [server, listener, paused] = await Promise.all([
    deps.servers.findOne({ _id: serverId }),
    deps.listeners.findOne({ serverId }),
    queuePaused(deps),
  ]);
  const now = deps.clock.now();
  const timeline = await voteTimeline(deps, vote, listener, now);
  const shown = { vote, timeline, server, queuePaused: paused, now };
  return { json: timelineJson(shown), text: timelineText(shown) };
}

async function forget(deps: AppDeps, text: string, usernameText: string): Promise<Answer> {
  const username = usernameSchema.parse(usernameText);
  const server = await requireServer(deps, text);
  const forgotten = await endCooldown(deps, server._id, username, BY);
  return {
    json: { server_id: server._id.toHexString(), username, forgotten },
    text: forgotten
      ? `“${username}” can now vote for ${server.slug} again.`
      : `No vote keeps “${username}” from voting for ${server.slug}: nothing was changed.`,
  };
}
