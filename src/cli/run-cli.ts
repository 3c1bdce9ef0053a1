import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Variables } from '../platform/environment.ts';
import { openAppDeps } from '../process/app-deps.ts';
import { addAggregateCommand } from './aggregate.ts';
import { addAnnouncementCommands } from './announcement.ts';
import { examples } from './answer.ts';
import { addBackupCommands } from './backup.ts';
import { addBlockCommands } from './block.ts';
import { addConfigCommands } from './config/check.ts';
import { addExportCommands } from './export.ts';
import { failureOf } from './failure.ts';
import { addImportCommands } from './import.ts';
import { addListenerCommands } from './listener.ts';
import { addMigrateCommand } from './migrate.ts';
import { addOperatorCommands } from './operator.ts';
import { addPlayerCommands } from './player.ts';
import { addRankCommands } from './rank.ts';
import { addReviewCommands } from './review.ts';
import { addServerCommands } from './server.ts';
import { addTagCommands } from './tag.ts';
import type { Streams, Terminal } from './terminal.ts';
import { addTokenCommands } from './token.ts';
import { addVoteCommands } from './vote.ts';

/** The exit code after a signal. */
export const INTERRUPTED = 130;

/** The width of help texts, in columns, if the output is not a terminal. */
const HELP_WIDTH = 80;

/**
 * Subscribes to the signals that end a process: calls `first` at the first one and `second` at the next one. Returns a
 * function that unsubscribes.
 */
export type OnStopSignal = (act: { first(): void; second(): void }) => () => void;

/**
 * Runs one command. It uses no globals of the process and does not exit the process.
 *
 * @param args - what follows `tallyport`
 * @param onStopSignal - without it, nothing interrupts the command
 * @param envFile - the variables of `.env`; `env` contains them too
 * @param openDeps - opens the dependencies of a command
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong use, 3 sent but not confirmed, 130 interrupted
 */
export async function runCli(
  args: string[],
  env: Variables,
  streams: Streams,
  onStopSignal: OnStopSignal = () => () => undefined,
  envFile: Variables = {},
  openDeps: Terminal['openDeps'] = openAppDeps,
): Promise<number> {
  const interrupted = Promise.withResolvers<number>();
  let stopping = false;
  let unsubscribe = () => {};
  const interrupt = () => interrupted.resolve(INTERRUPTED);
  const terminal: Terminal = {
    env,
    envFile,
    openDeps,
    streams,
    json: args.includes('--json'),
    exitCode: 0,
    onInterrupt({ stop, kill }) {
      unsubscribe = onStopSignal({
        first() {
          stopping = true;
          void stop().finally(interrupt);
        },
        second() {
          kill();
          interrupt();
        },
      });
    },
  };
  try {
    await Promise.race([tallyport(terminal).parseAsync(args, { from: 'user' }), interrupted.promise]);
    return stopping ? await interrupted.promise : terminal.exitCode;
  } catch (error) {
    // If the command was interrupted, the interruption causes the error, so the error is not reported.
    if (stopping) return await interrupted.promise;
    // Commander throws an error with exit code 0 after it has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return reportFailure(error, terminal);
  } finally {
    unsubscribe();
  }
}

/**
 * Prints why a command failed: with `--json` as one value on standard output, else as text on standard error.
 *
 * @returns the exit code
 */
export function reportFailure(error: unknown, { streams, json }: Pick<Terminal, 'streams' | 'json'>): 1 | 2 {
  const { code, message, exitCode } = failureOf(error);
  if (json) streams.stdout.write(`${JSON.stringify({ error: message, code }, null, 2)}\n`);
  else streams.stderr.write(`${message}\n`);
  return exitCode;
}

function tallyport(terminal: Terminal): Command {
  const { streams } = terminal;
  const program = new Command('tallyport')
    .description(
      'Run a Tallyport listing from the command line. It uses the same environment as the processes.',
    )
    .option('--json', 'print one JSON value on standard output and nothing else')
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(text),
      getOutHelpWidth: () => streams.stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => streams.stderr.columns ?? HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // Commander prints nothing itself: `reportFailure` prints the error, as text or as JSON.
      outputError: () => undefined,
    })
    .addHelpText(
      'after',
      examples(
        terminal,
        'server add --name "Alpha Craft" --address play.example.org --port 25565',
        'token issue alpha-craft',
        'vote list alpha-craft --state waiting',
      ),
    )
    .addHelpText('after', '\nExit codes: 0 done; 1 refused or failed; 2 wrong use; 3 sent, not confirmed.');
  addServerCommands(program, terminal);
  addTokenCommands(program, terminal);
  addListenerCommands(program, terminal);
  addVoteCommands(program, terminal);
  addPlayerCommands(program, terminal);
  addBlockCommands(program, terminal);
  addReviewCommands(program, terminal);
  addTagCommands(program, terminal);
  addAnnouncementCommands(program, terminal);
  addImportCommands(program, terminal);
  addExportCommands(program, terminal);
  addBackupCommands(program, terminal);
  addAggregateCommand(program, terminal);
  addRankCommands(program, terminal);
  addMigrateCommand(program, terminal);
  addConfigCommands(program, terminal);
  addOperatorCommands(program, terminal);
  return program;
}
