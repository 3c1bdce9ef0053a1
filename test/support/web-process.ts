import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { spawnOwn } from './own-process.ts';

/** A real web process. When the test ends, it is stopped if it still runs. */
export type WebProcess = {
  child: ChildProcess;
  /** The addresses of the application and the metrics: `http://127.0.0.1:41234`. */
  url: string;
  metricsUrl: string;
  /** Its log output until it listened. */
  log(): string;
  /** Its output on standard error. */
  errors(): string;
  /** Resolves with the exit code when the process ends. */
  ended: Promise<number | null>;
};

function spawnWeb(env: Record<string, string>) {
  const child = spawnOwn('src/web.ts', { ...env, LOG_LEVEL: 'info' });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, errors: () => errors, ended };
}

/** Starts `src/web.ts` and waits until it listens. */
export async function startWeb(env: Record<string, string>): Promise<WebProcess> {
  const web = spawnWeb(env);
  const addresses: Record<string, string> = {};
  let log = '';
  for await (const line of createInterface({ input: web.child.stdout })) {
    log += `${line}\n`;
    const { event, address } = JSON.parse(line);
    if (address) addresses[event] = address;
    const { 'web.listening': url, 'process.endpoints': metricsUrl } = addresses;
    if (!url || !metricsUrl) continue;
    // Leaving the loop closes the readline interface. Resume the stream, so that later output does not fill the pipe.
    web.child.stdout.resume();
    return { ...web, url, metricsUrl, log: () => log };
  }
  throw new Error(`the web process ended before it listened: ${web.errors()}`);
}

/** How a start that failed ended, and its output. */
export type FailedStart = { code: number | null; log: string; errors: string };

/** Starts `src/web.ts` with an environment in which it cannot run, and waits for its exit. */
export async function failToStartWeb(env: Record<string, string>): Promise<FailedStart> {
  const web = spawnWeb(env);
  const [log, code] = await Promise.all([text(web.child.stdout), web.ended]);
  return { code, log, errors: web.errors() };
}
