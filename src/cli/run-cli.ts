import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Variables } from '../platform/environment.ts';
import { addCommands } from './commands.ts';
import { examples } from './invocation.ts';
import type { Streams, Terminal } from './terminal.ts';

export const INTERRUPTED = 130;

const HELP_WIDTH = 80;

/** Subscribes to the signals that end a process. Returns a function that unsubscribes. */
export type OnStopSignal = (act: { first(): void; second(): void }) => () => void;

/**
 * Runs one command. It uses no globals of the process and does not exit the process.
 *
 * @param args - what follows `tallyport`
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong use, 3 sent but not confirmed, 130 interrupted
 */
export async function runCli(
  args: string[],
  env: Variables,
  streams: Streams,
  onStopSignal: OnStopSignal = () => () => undefined,
  envFile: Variables = {},
  openDeps: Terminal['openDeps'] = openAllDeps,
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
    const program = await tallyport(args, terminal);
    await Promise.race([program.parseAsync(args, { from: 'user' }), interrupted.promise]);
    return stopping ? await interrupted.promise : terminal.exitCode;
  } catch (error) {
    // If the command was interrupted, the interruption causes the error, so the error is not reported.
    if (stopping) return await interrupted.promise;
    // Commander throws an error with exit code 0 after it has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return await reportFailure(error, terminal);
  } finally {
    unsubscribe();
  }
}

/** Prints why a command failed, and returns the exit code. */
export async function reportFailure(
  error: unknown,
  { streams, json }: Pick<Terminal, 'streams' | 'json'>,
): Promise<1 | 2> {
  // failure.ts loads MongoDB's driver, so it is loaded only if a command failed.
  const { failureOf } = await import('./failure.ts');
  const { code, message, exitCode } = failureOf(error);
  if (json) streams.stdout.write(`${JSON.stringify({ error: message, code }, null, 2)}\n`);
  else streams.stderr.write(`${message}\n`);
  return exitCode;
}

/** Loads the modules of the dependencies only when a command needs them: never for a help text. */
const openAllDeps: Terminal['openDeps'] = async (...given) =>
  (await import('../process/app-deps.ts')).openAppDeps(...given);

async function tallyport(args: string[], terminal: Terminal): Promise<Command> {
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
      // Commander itself prints no errors: `reportFailure` prints them, as text or as JSON.
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
  await addCommands(program, args, terminal);
  return program;
}
