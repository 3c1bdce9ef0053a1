import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ObjectId } from 'mongodb';
import { setFetchListener } from '../delivery/fetch/fetch-listener.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { issueToken } from '../servers/api-tokens.ts';
import type { VotifierListener } from './votifier-listener.ts';

const JAR = fileURLToPath(new URL('../../relay/tallyport-relay.jar', import.meta.url));
const BY = 'the demo';

/** Options with which a JVM starts quickly and stays small. */
const SMALL_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx64m'];

const ENDS_WITHIN_MS = 4_000;

export function hasJava(): boolean {
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0;
}

/** As NuVotifier writes it. The relay reads the file, also after a change. */
export async function writeVotifierFolder(
  folder: string,
  { port, token }: Pick<VotifierListener, 'port' | 'token'>,
): Promise<void> {
  const plugin = join(folder, 'plugins', 'Votifier');
  await mkdir(plugin, { recursive: true });
  const config = `host: 127.0.0.1\nport: ${port}\ntokens:\n  default: ${token}\n`;
  await writeFile(join(plugin, 'config.yml'), config);
}

type Served = { serverId: ObjectId; folder: string; url: string };

/** Runs the relay in the folder that `writeVotifierFolder` has written. Calls `say` if it ends by itself. */
export async function runSampleRelay(
  deps: AppDeps,
  { serverId, folder, url }: Served,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const settings = { serviceName: deps.config.SERVICE_NAME, rewards: 'push' } as const;
  await setFetchListener(deps, serverId, settings, BY);
  const { token } = await issueToken(deps, { serverId, name: 'demo relay', kind: 'deliver' });
  const lines = [`server=${url}/api/v1/servers/${serverId.toHexString()}`, `key=${token}`];
  await writeFile(join(folder, 'tallyport-relay.properties'), `${lines.join('\n')}\n`);
  if (signal.aborted) return;
  const child = spawn('java', [...SMALL_JVM, '-jar', JAR], { cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'close').catch(() => undefined);
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS).unref();
  };
  signal.addEventListener('abort', stop, { once: true });
  await ended;
  signal.removeEventListener('abort', stop);
  if (!signal.aborted) say(`the relay ended with exit code ${child.exitCode}: see ${folder}`);
}
