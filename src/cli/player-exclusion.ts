import type { Command } from 'commander';
import { ObjectId } from 'mongodb';
import type { Progress } from '../platform/progress.ts';
import { finishExclusion } from '../votes/exclusions/finish-exclusion.ts';
import { countPlayerVotes, requestPlayerExclusion } from '../votes/exclusions/player-exclusion.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import { usernameSchema } from '../votes/username.ts';
import { sum } from '../votes/vote-counts.ts';
import { type Answer, withDeps } from './answer.ts';
import { BY, requireServer, slugsOf } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { moment } from './option-values.ts';
import { countWithNoun } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addPlayerExclusionCommand(vote: Command, terminal: Terminal): void {
  vote
    .command('exclude-player')
    .description('take one player’s votes out of every count, on all servers or one')
    .argument('<username>', 'the player, in any spelling')
    .requiredOption('--reason <text>', 'why, for operators and the audit log')
    .option('--reason-for-owner <text>', 'why, for the owners of the servers')
    .option('--server <server>', 'only on this server: id or slug; also a removed one')
    .option('--since <time>', 'votes cast at this time or later; by default all', moment)
    .option('--until <time>', 'votes cast before this time; by default now', moment)
    .option('--dry-run', 'only count the votes')
    .addHelpText(
      'after',
      examples(
        terminal,
        'vote exclude-player Steve --reason "Bot" --dry-run',
        'vote exclude-player Steve --server alpha-craft --since 2026-11-20 --reason "Bot"',
      ),
    )
    .action(withDeps(terminal, exclude, { wakes: true, longRun: true }));
}

type Options = {
  reason: string;
  reasonForOwner?: string;
  server?: string;
  since?: Date;
  until?: Date;
  dryRun?: boolean;
};

async function exclude(session: Session, text: string, options: Options): Promise<Answer> {
  const { reason, reasonForOwner, server, since = null, until = session.clock.now(), dryRun } = options;
  const username = usernameSchema.parse(text);
  const only = server === undefined ? null : await requireServer(session, server, { removed: true });
  const range = { username, serverId: only?._id ?? null, since, until };
  if (dryRun) return preview(session, range);
  const request = { ...range, reason, reasonForOwner };
  const done = await withProgress(session.terminal, 'Excluding', 'servers', async (progress) =>
    finishAll(
      session,
      await requestPlayerExclusion(session, new ObjectId(), request, BY, { wakesWorker: false }),
      progress,
    ),
  );
  const votes = sum(done.map((one) => one.votes ?? 0));
  const groupId = done[0]?.groupId?.toHexString() ?? null;
  const where = countWithNoun(done.length, 'server');
  return {
    json: { dry_run: false, exclusion_id: groupId, servers: done.length, votes },
    text: groupId
      ? `${countWithNoun(votes, 'vote')} of “${username}” on ${where} ${votes === 1 ? 'is' : 'are'} now excluded from every count (exclusion ${groupId}). Undo: ${invocation(`vote include ${groupId}`, session.terminal.env)}`
      : `“${username}” has no votes there: nothing was changed.`,
  };
}

export async function finishAll(
  session: Session,
  requested: VoteExclusion[],
  progress: Progress,
): Promise<VoteExclusion[]> {
  const finished: VoteExclusion[] = [];
  for (const { _id } of requested) {
    progress(finished.length, requested.length);
    const exclusion = await finishExclusion(session, _id);
    if (exclusion) finished.push(exclusion);
  }
  progress(finished.length, requested.length);
  return finished;
}

async function preview(session: Session, range: Parameters<typeof countPlayerVotes>[1]): Promise<Answer> {
  const found = await countPlayerVotes(session, range);
  const slugs = await slugsOf(
    session,
    found.map(({ serverId }) => serverId),
  );
  const rows = found.map(({ serverId, votes, excluded }) => ({
    server_id: serverId.toHexString(),
    slug: slugs.get(serverId.toHexString()) ?? null,
    votes,
    excluded,
  }));
  return {
    json: { dry_run: true, servers: rows, votes: sum(rows.map((row) => row.votes)) },
    text: table(
      ['SERVER', 'VOTES', 'ALREADY EXCLUDED'],
      rows.map((row) => [row.slug ?? row.server_id, row.votes, row.excluded]),
      `“${range.username}” has no votes there.`,
    ),
  };
}
