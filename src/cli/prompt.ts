import { createInterface } from 'node:readline/promises';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** Whether the input is a terminal, so that the user can be asked. */
export function canAsk({ streams }: Terminal): boolean {
  return streams.stdin.isTTY === true;
}

/** Asks the user a question on standard error and returns the answer. */
async function ask({ streams }: Terminal, question: string): Promise<string> {
  const readline = createInterface({ input: streams.stdin, output: streams.stderr, terminal: true });
  const left = new AbortController();
  readline.on('close', () => left.abort()).on('SIGINT', () => readline.close());
  try {
    return await readline.question(question, { signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) throw new CommandError('not-confirmed', 'Nothing was changed.');
    throw error;
  } finally {
    readline.close();
  }
}

/** Asks a question; only `y` and `yes` confirm it. */
export async function confirms(terminal: Terminal, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(terminal, `${question} [y/N] `)).trim());
}
