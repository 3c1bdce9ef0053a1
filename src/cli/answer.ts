import type { Command } from 'commander';
import { invocation } from './invocation.ts';
import { redisAnswers, type Session, withSession } from './session.ts';
import { say, type Terminal, type UNCONFIRMED } from './terminal.ts';

/** What a command says in the end. */
export type Answer = {
  /** The one value of `--json`: plain values, times as ISO texts. */
  json: unknown;
  /** The same for users. */
  text: string;
  /** 1 when what was asked for was done and did not succeed; 3 when nobody knows whether it did. */
  exitCode?: 1 | typeof UNCONFIRMED;
};

/** Writes an answer to standard output. */
export function give(terminal: Terminal, { json, text, exitCode }: Answer, command: Command): void {
  const options = command.optsWithGlobals<{ json?: boolean }>();
  terminal.streams.stdout.write(`${options.json ? JSON.stringify(json, null, 2) : text}\n`);
  if (exitCode) terminal.exitCode = exitCode;
}

/** What a command needs besides the open platform. */
type Needs<A> = {
  /** Throws where what was typed cannot be meant, before anything is opened. */
  check?: (...given: A & unknown[]) => void;
  /** It makes what the others need to be there. */
  migrates?: boolean;
  /** It wakes a worker: Redis is waited for a moment. */
  wakes?: boolean;
  /** Its operations on the database may take as long as a worker's. */
  longRun?: boolean;
  /** What is cut short is completed by the same command; a stop says so. */
  resumable?: boolean;
};

const REDIS_AWAY =
  'Note: Redis does not answer. Nothing is lost: a worker finds the work by itself once Redis is back.';

/**
 * Makes the action of a command that works on the platform: everything is closed again before the answer is
 * given.
 */
export function onPlatform<A extends unknown[]>(
  terminal: Terminal,
  work: (session: Session, ...given: A) => Promise<Answer>,
  { check, wakes = false, ...needs }: Needs<A> = {},
): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1) as Command;
    const given = args.slice(0, -1) as A;
    check?.(...given);
    const answer = await withSession(
      terminal,
      async (session) => {
        if (wakes && !(await redisAnswers(session))) say(terminal, REDIS_AWAY);
        return await work(session, ...given);
      },
      needs,
    );
    give(terminal, answer, command);
  };
}

/** Makes the examples at the end of a help text, when it is shown. */
export function examples({ env }: Terminal, ...lines: string[]): () => string {
  return () => `\nExamples:\n${lines.map((line) => `  $ ${invocation(line, env)}`).join('\n')}`;
}
