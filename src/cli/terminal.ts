import type { Readable, Writable } from 'node:stream';
import type { Variables } from '../platform/config.ts';

/** The standard streams of a command; `isTTY`: a user sits there. A process has them under these names. */
export type Streams = {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
};

type Output = Writable & { isTTY?: boolean; columns?: number };

/** The exit code of what was sent and not confirmed. */
export const UNCONFIRMED = 3;

/** What a command knows and does of the process that it runs in. */
export type Terminal = {
  env: Variables;
  streams: Streams;
  /** Whether `--json` stands among the arguments: a program reads the answer. */
  json: boolean;
  /** 1 once a command was done and did not succeed; 3 when nobody knows whether it did. */
  exitCode: 0 | 1 | typeof UNCONFIRMED;
  /** `stop` is called at the first signal that asks the command to end, `kill` at the second. */
  onInterrupt(act: { stop(): Promise<void>; kill(): void }): void;
};

/** Writes a line for the user at the terminal, to standard error. */
export function say({ streams }: Terminal, line: string): void {
  streams.stderr.write(`${line}\n`);
}
