#!/usr/bin/env node
import { sentence, systemReason } from './cli/output-format.ts';
import { INTERRUPTED, reportFailure, runCli } from './cli/run-cli.ts';
import { ownEnvironment, variablesOfEnvFile } from './platform/environment.ts';
import { onStopSignal } from './platform/stop-signals.ts';

async function run(args: string[]): Promise<number> {
  try {
    return await runCli(args, ownEnvironment(), process, onStopSignal, variablesOfEnvFile());
  } catch (error) {
    // If the file `.env` cannot be read, the error is reported like an error of a command.
    return await reportFailure(error, { streams: process, json: args.includes('--json') });
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // If the reader of the pipe closes it early, as `head` does, that is no error.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`${sentence(`The answer cannot be written: ${systemReason(error)}`)}\n`);
  process.exitCode = 1;
});
const exitCode = await run(process.argv.slice(2));
if (exitCode !== 0) process.exitCode = exitCode;
// The remaining work of an interrupted command would keep the process alive, so the process exits here.
if (exitCode === INTERRUPTED) process.exit();
