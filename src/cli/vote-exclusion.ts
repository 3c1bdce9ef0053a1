import type { Command } from 'commander';
import { ObjectId } from 'mongodb';
import type { Progress } from '../platform/progress.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import {
  countPlayerVotes,
  requestGroupInclusion,
  requestPlayerExclusion,
} from '../votes/exclusions/player-exclusion.ts';
import { requestQuarantineExclusion } from '../votes/exclusions/quarantine.ts';
import {
  exclusionIdOf,
  listExclusions,
  requestExclusion,
  requestInclusion,
} from '../votes/exclusions/request-exclusion.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import { usernameSchema } from '../votes/username.ts';
import { sum } from '../votes/vote-counts.ts';
import { carryOutExclusion } from '../workflows/carry-out-exclusion.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, objectIdOf, requireServer, slugsById } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { moment } from './option-values.ts';
import { countWithNoun, iso, utc, when } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addVoteExclusionCommands(vote: Command, terminal: Terminal): void {
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
    .action(withDeps(terminal, excludePlayer, { wakes: true, longRun: true }));

  vote
    .command('exclude')
    .description(
      `take votes out of every count and the ranking; their players still wait ${COOLDOWN_HOURS} hours`,
    )
    .argument('<server>', 'id or slug; also of a removed server')
    .requiredOption(
      '--since <time>',
      'votes cast at this time or later: a UTC day, or a time with offset',
      moment,
    )
    .requiredOption('--until <time>', 'votes cast before this time; not in the future', moment)
    .requiredOption('--reason <text>', 'why, for operators and the audit log')
    .option('--reason-for-owner <text>', 'why, for the owner of the server')
    .option('--token <token_id>', 'only votes cast with this token, revoked or not')
    .addHelpText(
      'after',
      examples(
        terminal,
        'vote exclude alpha-craft --since 2026-11-20 --until 2026-11-21 --reason "Bought votes"',
      ),
    )
    .action(withDeps(terminal, exclude, { wakes: true, longRun: true }));

  vote
    .command('exclusions')
    .description('show which votes of a server were excluded or are quarantined, and why')
    .argument('<server>', 'id or slug; also of a removed server')
    .addHelpText('after', examples(terminal, 'vote exclusions alpha-craft'))
    .action(withDeps(terminal, list));

  vote
    .command('include')
    .description('undo an exclusion or lift a quarantine: its votes count')
    .argument('<exclusion_id>', 'the id that `vote exclusions`, or `vote exclude-player` shows')
    .addHelpText('after', examples(terminal, 'vote include 6b019ace24981ba2c7ac8bec'))
    .action(withDeps(terminal, include, { wakes: true, longRun: true }));

  vote
    .command('exclude-quarantine')
    .description('decide that quarantined votes stay excluded; `vote include` lifts the quarantine')
    .argument('<exclusion_id>', 'the id that `vote exclusions` shows')
    .requiredOption('--reason <text>', 'why, for the audit log')
    .addHelpText(
      'after',
      examples(terminal, 'vote exclude-quarantine 6b019ace24981ba2c7ac8bec --reason "Bots"'),
    )
    .action(withDeps(terminal, excludeQuarantine, { wakes: true }));
}

async function excludeQuarantine(
  session: Session,
  text: string,
  { reason }: { reason: string },
): Promise<Answer> {
  const id = objectIdOf(text);
  const exclusion = id && (await requestQuarantineExclusion(session, id, { reason }, BY));
  if (!exclusion)
    throw new CommandError('quarantine-not-found', `There is no open quarantine with the id “${text}”.`);
  return {
    json: exclusionJson(exclusion),
    text: `The votes of quarantine ${text} stay excluded. A worker finishes this within a minute.`,
  };
}

type ExcludeOptions = { since: Date; until: Date; reason: string; reasonForOwner?: string; token?: string };

async function exclude(session: Session, text: string, options: ExcludeOptions): Promise<Answer> {
  const { since, until, reason, reasonForOwner, token } = options;
  const { _id: serverId, slug } = await requireServer(session, text, { removed: true });
  const tokenId = token === undefined ? null : await tokenOf(session, serverId, token);
  const request = { serverId, since, until, reason, reasonForOwner, tokenId };
  const exclusionId = await exclusionIdOf(session, request);
  const requested = await requestExclusion(session, exclusionId, request, BY, { wakesWorker: false });
  const finished = await withProgress(session.terminal, 'Excluding', 'votes', (progress) =>
    carryOutExclusion(session, exclusionId, { progress }),
  );
  const exclusion = finished ?? requested;
  const votes = countWithNoun(exclusion.votes ?? 0, 'vote');
  return {
    json: exclusionJson(exclusion),
    text: `${votes} of ${slug} ${exclusion.votes === 1 ? 'is' : 'are'} now excluded from every count (exclusion ${exclusion._id.toHexString()}). Their players’ ${COOLDOWN_HOURS} hours and their delivery are unchanged.`,
  };
}

async function tokenOf(deps: AppDeps, serverId: ObjectId, text: string): Promise<ObjectId> {
  const _id = objectIdOf(text);
  const token = _id && (await deps.apiTokens.findOne({ _id, serverId }));
  if (!token) {
    throw new CommandError('token-not-found', `The server never had a token with the id “${text}”.`);
  }
  return token._id;
}

async function include(session: Session, text: string): Promise<Answer> {
  const id = objectIdOf(text);
  const ofPlayer = id ? await requestGroupInclusion(session, id, BY, { wakesWorker: false }) : [];
  if (ofPlayer.length > 0) return includePlayer(session, text, ofPlayer);
  const requested = id && (await requestInclusion(session, id, BY, { wakesWorker: false }));
  const exclusion =
    requested &&
    (await withProgress(session.terminal, 'Including', 'votes', (progress) =>
      carryOutExclusion(session, requested._id, { progress }),
    ));
  if (!exclusion)
    throw new CommandError('exclusion-not-found', `There is no exclusion with the id “${text}”.`);
  return {
    json: exclusionJson(exclusion),
    text: exclusion.isQuarantine
      ? `Quarantine ${text} is lifted: ${countWithNoun(exclusion.votes ?? 0, 'vote')} will count and be delivered, except those that another exclusion covers or that a restore holds back.`
      : `Exclusion ${text} is undone: its ${countWithNoun(exclusion.votes ?? 0, 'vote')} count again, except those that another exclusion covers.`,
  };
}

async function includePlayer(session: Session, text: string, requested: VoteExclusion[]): Promise<Answer> {
  const done = await withProgress(session.terminal, 'Including', 'servers', (progress) =>
    finishAll(session, requested, progress),
  );
  const votes = sum(done.map((one) => one.votes ?? 0));
  return {
    json: { exclusion_id: text, exclusions: done.map(exclusionJson) },
    text: `Exclusion ${text} is undone on ${countWithNoun(done.length, 'server')}: its ${countWithNoun(votes, 'vote')} count again, except those that another exclusion covers.`,
  };
}

async function list(deps: AppDeps, text: string): Promise<Answer> {
  const { _id } = await requireServer(deps, text, { removed: true });
  const exclusions = await listExclusions(deps, _id);
  const now = deps.clock.now();
  const rows = exclusions.map((exclusion) => [
    exclusion._id.toHexString(),
    utc(exclusion.since),
    utc(exclusion.until),
    exclusion.tokenId?.toHexString() ?? 'all',
    exclusion.username ?? 'all',
    exclusion.votes ?? '-',
    exclusion.state === 'included' ? 'undone' : exclusion.state,
    `${exclusion.by}, ${when(exclusion.at, now)}`,
    exclusion.reason,
  ]);
  return {
    json: { exclusions: exclusions.map(exclusionJson) },
    text: table(
      ['EXCLUSION', 'SINCE', 'UNTIL', 'TOKEN', 'PLAYER', 'VOTES', 'STATE', 'BY', 'REASON'],
      rows,
      'No votes of this server have been excluded.',
    ),
  };
}

function exclusionJson(exclusion: VoteExclusion): Record<string, unknown> {
  const { undone } = exclusion;
  return {
    exclusion_id: exclusion._id.toHexString(),
    server_id: exclusion.serverId.toHexString(),
    since: iso(exclusion.since),
    until: iso(exclusion.until),
    token_id: exclusion.tokenId?.toHexString() ?? null,
    username: exclusion.username ?? null,
    group_id: exclusion.groupId?.toHexString() ?? null,
    reason: exclusion.reason,
    reason_for_owner: exclusion.reasonForOwner ?? null,
    by: exclusion.by,
    at: iso(exclusion.at),
    undone: undone ? { by: undone.by, at: iso(undone.at) } : null,
    state: exclusion.state,
    days: exclusion.days.toSorted(),
    votes: exclusion.votes ?? null,
  };
}

type PlayerOptions = {
  reason: string;
  reasonForOwner?: string;
  server?: string;
  since?: Date;
  until?: Date;
  dryRun?: boolean;
};

async function excludePlayer(session: Session, text: string, options: PlayerOptions): Promise<Answer> {
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

async function finishAll(
  session: Session,
  requested: VoteExclusion[],
  progress: Progress,
): Promise<VoteExclusion[]> {
  const finished: VoteExclusion[] = [];
  for (const { _id } of requested) {
    progress(finished.length, requested.length);
    const exclusion = await carryOutExclusion(session, _id);
    if (exclusion) finished.push(exclusion);
  }
  progress(finished.length, requested.length);
  return finished;
}

async function preview(session: Session, range: Parameters<typeof countPlayerVotes>[1]): Promise<Answer> {
  const found = await countPlayerVotes(session, range);
  const slugs = await slugsById(
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
