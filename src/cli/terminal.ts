import type { Readable, Writable } from 'node:stream';
import type { Variables } from '../platform/environment.ts';
import type { openAppDeps } from '../process/app-deps.ts';

export type Streams = {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
};

type Output = Writable & { isTTY?: boolean; columns?: number };

/** The exit code of a test vote that was sent and not confirmed. */
export const UNCONFIRMED = 3;

export type Terminal = {
  env: Variables;
  /** The variables of `.env`. `env` contains them too, unless the environment has other values. */
  envFile: Variables;
  openDeps: typeof openAppDeps;
  streams: Streams;
  json: boolean;
  exitCode: 0 | 1 | typeof UNCONFIRMED;
  /** `stop` is called at the first signal that ends a process, `kill` at the second. */
  onInterrupt(act: { stop(): Promise<void>; kill(): void }): void;
};

export function say({ streams }: Terminal, line: string): void {
  streams.stderr.write(`${line}\n`);
}
