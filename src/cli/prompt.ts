import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { CommandError } from './failure.ts';

/** Whether a person sits at the terminal and can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks the person at the terminal; the answer is what was typed. Questions never go to standard output. */
async function ask(question: string, { echo }: { echo: boolean }): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = echo ? process.stderr : silent;
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const left = new AbortController();
  terminal.on('close', () => left.abort()).on('SIGINT', () => terminal.close());
  // Only now does the terminal itself echo no more.
  if (!echo) process.stderr.write(question);
  try {
    return await terminal.question(echo ? question : '', { signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) throw new CommandError('not-confirmed', 'Nothing was done.');
    throw error;
  } finally {
    terminal.close();
    if (!echo) process.stderr.write('\n');
  }
}

/** Asks a question that only `y` or `yes` answers with yes. */
export async function confirms(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `, { echo: true })).trim());
}

/** Reads a secret: typed twice without echo at a terminal, else the first line of standard input. */
export async function readSecret(name: string): Promise<string> {
  if (!canAsk()) return firstLine(await readAll(process.stdin));
  const secret = await ask(`${name}: `, { echo: false });
  if ((await ask(`${name} once more: `, { echo: false })) !== secret) {
    throw new CommandError('not-the-same', 'The two are not the same. Nothing was done.');
  }
  return secret;
}

function firstLine(input: string): string {
  return input.split(/\r?\n/, 1)[0] ?? '';
}
