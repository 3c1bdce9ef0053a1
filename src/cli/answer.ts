import type { Command } from 'commander';
import type { Platform } from '../platform.ts';
import { invocation } from './invocation.ts';
import { redisAnswers, withPlatform } from './session.ts';

/** What a command says in the end. */
export type Answer = {
  /** The one value of `--json`: plain values, times as ISO texts. */
  json: unknown;
  /** The same for people. */
  text: string;
  /** 1 when what was asked for was done and did not succeed. */
  exitCode?: 1;
};

/** Writes an answer to standard output. */
export function give(answer: Answer, command: Command): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  process.stdout.write(`${json ? JSON.stringify(answer.json, null, 2) : answer.text}\n`);
  if (answer.exitCode) process.exitCode = answer.exitCode;
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
  work: (platform: Platform, ...given: A) => Promise<Answer>,
  { check, migrates = false, wakes = false, longRun = false, resumable = false }: Needs<A> = {},
): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1) as Command;
    const given = args.slice(0, -1) as A;
    check?.(...given);
    const answer = await withPlatform(
      async (platform) => {
        if (wakes && !(await redisAnswers(platform))) process.stderr.write(`${REDIS_AWAY}\n`);
        return await work(platform, ...given);
      },
      { migrates, longRun, resumable },
    );
    give(answer, command);
  };
}

/** Makes the examples at the end of a help text, when it is shown. */
export function examples(...lines: string[]): () => string {
  return () => `\nExamples:\n${lines.map((line) => `  $ ${invocation(line)}`).join('\n')}`;
}
