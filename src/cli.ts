#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { addAggregateCommand } from './cli/aggregate.ts';
import { examples } from './cli/answer.ts';
import { addExportCommands } from './cli/export.ts';
import { type Failure, failureOf } from './cli/failure.ts';
import { addImportCommands } from './cli/import.ts';
import { addListenerCommands } from './cli/listener.ts';
import { addMigrateCommand } from './cli/migrate.ts';
import { addOperatorCommands } from './cli/operator.ts';
import { addRankCommands } from './cli/rank.ts';
import { addReviewCommands } from './cli/review.ts';
import { addServerCommands } from './cli/server.ts';
import { addTokenCommands } from './cli/token.ts';
import { addVoteCommands } from './cli/vote.ts';
import { sentence, systemReason } from './cli/words.ts';

function tallyport(): Command {
  const program = new Command('tallyport')
    .description(
      'Run a Tallyport listing from the command line. It uses the same environment as the processes.',
    )
    .option('--json', 'print one JSON value on standard output and nothing else')
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    // What went wrong is told in one place, below, in words or as JSON.
    .configureOutput({ outputError: () => undefined })
    .addHelpText(
      'after',
      examples(
        'server add --name "Alpha Craft" --address play.example.org --port 25565',
        'token issue alpha-craft',
        'vote list alpha-craft --state waiting',
      ),
    )
    .addHelpText('after', '\nExit codes: 0 done; 1 refused or failed; 2 wrong use.');
  addServerCommands(program);
  addTokenCommands(program);
  addListenerCommands(program);
  addVoteCommands(program);
  addReviewCommands(program);
  addImportCommands(program);
  addExportCommands(program);
  addAggregateCommand(program);
  addRankCommands(program);
  addMigrateCommand(program);
  addOperatorCommands(program);
  return program;
}

/** A failure with `--json` is one value on standard output too. */
function tell({ code, message }: Failure, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify({ error: message, code }, null, 2)}\n`);
  else process.stderr.write(`${message}\n`);
}

async function main(args: string[]): Promise<void> {
  try {
    await tallyport().parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help and version were asked for and shown.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const failure = failureOf(error);
    tell(failure, args.includes('--json'));
    process.exitCode = failure.exitCode;
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may leave before all is written.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`${sentence(`The answer cannot be written: ${systemReason(error)}`)}\n`);
  process.exitCode = 1;
});
await main(process.argv.slice(2));
