import { createInterface } from 'node:readline/promises';
import { CommandError } from './failure.ts';

/** Whether a person sits at the terminal and can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks the person at the terminal; the answer is what was typed. Questions never go to standard output. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const left = new AbortController();
  terminal.on('close', () => left.abort()).on('SIGINT', () => terminal.close());
  try {
    return await terminal.question(question, { signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) throw new CommandError('not-confirmed', 'Nothing was done.');
    throw error;
  } finally {
    terminal.close();
  }
}

/** Asks a question that only `y` or `yes` answers with yes. */
export async function confirms(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}
