import type { Readable, Writable } from 'node:stream';
import type { Variables } from '../platform/environment.ts';
import type { openAppDeps } from '../process/app-deps.ts';

/** The standard streams of a command, named as in `process`. `isTTY`: whether the stream is a terminal. */
export type Streams = {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
};

type Output = Writable & { isTTY?: boolean; columns?: number };

/** The exit code of `listener test` if the test vote was sent and the listener did not confirm it. */
export const UNCONFIRMED = 3;

/** The interface between a command and its process. */
export type Terminal = {
  env: Variables;
  /** The variables of `.env`. `env` contains them too, unless the environment has other values. */
  envFile: Variables;
  openDeps: typeof openAppDeps;
  streams: Streams;
  /** Whether `--json` is one of the arguments. */
  json: boolean;
  /** 1: the command ran, and its work failed or is incomplete. 3: a vote was sent but not confirmed. */
  exitCode: 0 | 1 | typeof UNCONFIRMED;
  /** `stop` is called at the first signal that ends a process, `kill` at the second. */
  onInterrupt(act: { stop(): Promise<void>; kill(): void }): void;
};

/** Prints a line on standard error. */
export function say({ streams }: Terminal, line: string): void {
  streams.stderr.write(`${line}\n`);
}
