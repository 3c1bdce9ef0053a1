import type { Command } from 'commander';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import { usernameSchema } from '../votes/username.ts';
import { type Erased, erasePlayer } from '../workflows/erase-player.ts';
import { type Answer, withDeps } from './answer.ts';
import { BY } from './find.ts';
import { examples } from './invocation.ts';
import { countWithNoun } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import { requireYes } from './prompt.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addPlayerCommands(player: Command, terminal: Terminal): void {
  player
    .command('erase')
    .description('remove a player’s name from votes, reviews, favourites and the audit log')
    .argument('<username>', 'the player, in any spelling')
    .option('--dry-run', 'only count what would be changed')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', examples(terminal, 'player erase Steve --dry-run', 'player erase Steve --yes'))
    .action(withDeps(terminal, erase, { longRun: true }));
}

type Options = { dryRun?: boolean; yes?: boolean };

async function erase(
  session: Session,
  text: string,
  { dryRun = false, yes = false }: Options,
): Promise<Answer> {
  const { terminal } = session;
  const name = usernameSchema.parse(text);
  if (!dryRun && !yes)
    await requireYes(
      terminal,
      `Erase the player name “${name}” on all servers?`,
      'Erasing a name cannot be undone. Add --yes to do it without confirmation.',
    );
  const label = dryRun ? 'Counting' : 'Erasing';
  const erased = await withProgress(terminal, label, 'servers', (progress) =>
    erasePlayer(session, name, BY, { dryRun, progress }),
  );
  const { open, recent } = erased.remaining;
  const complete = open + recent === 0;
  return {
    json: {
      dry_run: dryRun,
      votes: erased.votes,
      reviews: erased.reviews,
      favourites: erased.favourites,
      exclusions: erased.exclusions,
      audit_entries: erased.auditEntries,
      remaining_open_votes: open,
      remaining_recent_votes: recent,
      complete,
    },
    text: erasedText(name, erased, dryRun),
    ...(complete || dryRun ? {} : { exitCode: 1 }),
  };
}

function erasedText(name: string, { remaining, ...erased }: Erased, dryRun: boolean): string {
  const records = [
    countWithNoun(erased.votes, 'vote'),
    countWithNoun(erased.reviews, 'review'),
    countWithNoun(erased.favourites, 'saved name'),
    countWithNoun(erased.exclusions, 'exclusion'),
    `${erased.auditEntries} in the audit log`,
  ].join(', ');
  const lines = [`${dryRun ? 'Would erase' : 'Erased'} “${name}” in: ${records}. Votes still count.`];
  if (remaining.recent > 0) {
    lines.push(
      `Kept for now: ${countWithNoun(remaining.recent, 'vote')} of the last ${COOLDOWN_HOURS} hours, which the cooldown and claims need. Run this command again in ${COOLDOWN_HOURS} hours.`,
    );
  }
  if (remaining.open > 0) {
    lines.push(
      `Kept for now: ${countWithNoun(remaining.open, 'vote')} with an open delivery or in quarantine. Run this command again when that has ended.`,
    );
  }
  return lines.join('\n');
}
