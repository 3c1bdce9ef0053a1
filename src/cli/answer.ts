import type { Command } from 'commander';
import { redisAnswers, type Session, type SessionNeeds, withSession } from './session.ts';
import { say, type Terminal, type UNCONFIRMED } from './terminal.ts';

export type Answer = {
  /** The value that `--json` prints; times are ISO strings. */
  json: unknown;
  text: string;
  /** 1: the command ran, and its work failed or is incomplete. 3: a vote was sent but not confirmed. Absent: 0. */
  exitCode?: 1 | typeof UNCONFIRMED;
};

export function printAnswer(terminal: Terminal, { json, text, exitCode }: Answer, command: Command): void {
  const options = command.optsWithGlobals<{ json?: boolean }>();
  terminal.streams.stdout.write(`${options.json ? JSON.stringify(json, null, 2) : text}\n`);
  if (exitCode) terminal.exitCode = exitCode;
}

type Needs<A> = SessionNeeds & {
  check?: (...given: A & unknown[]) => void;
  /** Set if the command creates work for a worker. It then waits up to a second for Redis, which wakes the worker. */
  wakes?: boolean;
};

const REDIS_AWAY =
  'Note: Redis does not answer. Nothing is lost: a worker finds the work when Redis is back.';

/** Returns the action of a command that needs `AppDeps`. It closes the dependencies before it prints the answer. */
export function withDeps<A extends unknown[]>(
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
    printAnswer(terminal, answer, command);
  };
}
