import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Variables } from '../../src/platform/environment.ts';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** The result of a command. */
export type CliResult = {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output parsed as JSON. Throws if it is not JSON. */
  readonly json: Record<string, unknown>;
};

/** Adds `json` to `ended`. The output is parsed at first use. */
export function readable(ended: Omit<CliResult, 'json'>): CliResult {
  return {
    ...ended,
    get json() {
      return JSON.parse(ended.stdout) as Record<string, unknown>;
    },
  };
}

/** Runs `tallyport` with `args` as a separate process. It reads `input` from a pipe. */
export async function spawnTallyport(
  args: string[],
  { env, input = '' }: { env: Variables; input?: string },
): Promise<CliResult> {
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined).end(input);
  const exited = once(child, 'exit');
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return readable({ code, stdout, stderr });
}
