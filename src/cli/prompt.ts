import { createInterface } from 'node:readline/promises';
import { CommandError, wrongUse } from './failure.ts';
import type { Terminal } from './terminal.ts';

async function ask({ streams }: Terminal, question: string): Promise<string> {
  const readline = createInterface({ input: streams.stdin, output: streams.stderr, terminal: true });
  const left = new AbortController();
  readline.on('close', () => left.abort()).on('SIGINT', () => readline.close());
  try {
    return await readline.question(question, { signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) throw notConfirmed();
    throw error;
  } finally {
    readline.close();
  }
}

/**
 * Asks a question; only `y` and `yes` confirm it.
 *
 * @param elsewhere - what to do where nobody can be asked, because the input is no terminal
 * @throws {CommandError} `wrong-use`, `not-confirmed`
 */
export async function requireYes(terminal: Terminal, question: string, elsewhere: string): Promise<void> {
  if (terminal.streams.stdin.isTTY !== true) throw wrongUse(elsewhere);
  const answer = await ask(terminal, `${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw notConfirmed();
}

function notConfirmed(): CommandError {
  return new CommandError('not-confirmed', 'Nothing was changed.');
}
