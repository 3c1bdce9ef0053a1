import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import { JAR } from '../../relay/build.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { FakeDeliveryApi } from '../support/fake-delivery-api.ts';
import { hasEnded } from '../support/own-process.ts';

/** Whether a program of the JDK is installed; in CI it must be. */
export function isInstalled(program: 'java' | 'javac'): boolean {
  return !spawnSync(program, ['-version']).error;
}

export const HAS_JAVA = isInstalled('java');
export const HAS_JAVAC = isInstalled('javac');

/** Options with which a JVM starts quickly and stays small. */
export const SMALL_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx64m', '-XX:-UsePerfData'];

/** A folder that is removed at the end of the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tallyport-relay-test-'));
  atTheEnd(async () => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A line of the journal as the relay writes it. */
export function journalLine(words: string, at = Date.now()): string {
  const line = `${at} ${words}`;
  return `${line} #${crc32(line).toString(16)}\n`;
}

/** A relay that runs, with what it prints. */
export type RunningRelay = {
  child: ChildProcess;
  lines: string[];
  /** Waits for a line. */
  says(text: string | RegExp, limit?: { timeout: number }): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Waits until it ends by itself; resolves with the exit code. */
  end(): Promise<number | null>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
};

/** A folder of a game server, a fake listing and a fake Votifier v2. */
export async function relayBench({ plugin = 'Votifier' } = {}) {
  const folder = newFolder();
  const api = new FakeDeliveryApi();
  const listener = new VotifierListener();
  await api.start();
  await listener.start();
  atTheEnd(async () => {
    await api.stop();
    await listener.stop();
  });
  const pluginFolder = join(folder, 'plugins', plugin);
  const makePluginFolder = () => void mkdirSync(join(pluginFolder, 'rsa'), { recursive: true });
  makePluginFolder();
  const bench = {
    folder,
    api,
    listener,
    pluginFolder,
    makePluginFolder,
    journal: join(folder, 'tallyport-relay.journal'),
    /** As NuVotifier writes it. */
    writeVotifierConfig(text: string) {
      writeFileSync(join(pluginFolder, 'config.yml'), text);
    },
    writePublicKey() {
      writeFileSync(join(pluginFolder, 'rsa/public.key'), listener.publicKeyLine);
    },
    writeConfig(lines = [`server=${api.url}`, `key=${api.key}`]) {
      writeFileSync(join(folder, 'tallyport-relay.properties'), `${lines.join('\n')}\n`);
    },
    /** The line of the configuration for the same server at another origin. */
    serverLine: (origin: string) => `server=${origin}${new URL(api.url).pathname}`,
    readJournal: () => readFileSync(bench.journal, 'utf8'),
    /** The names that the vote plugin received, oldest first. */
    received: () => listener.votes.map(({ username }) => username),
    start: (args: string[] = [], command: string[] = ['java']) => startRelay(folder, args, command),
  };
  bench.writeConfig();
  bench.writeVotifierConfig(configYml(listener.port, listener.token));
  return bench;
}

/** What `--check` prints and its exit code. `options` are for the JVM. */
export async function checkWith(
  bench: Awaited<ReturnType<typeof relayBench>>,
  options: string[] = [],
): Promise<{ code: number | null; lines: string[] }> {
  const relay = bench.start(['--check'], ['java', ...options]);
  await once(relay.child, 'close');
  return { code: relay.child.exitCode, lines: relay.lines };
}

/** The config.yml of NuVotifier. */
export function configYml(port: number, token: string): string {
  return `# The IP to listen to.
host: 0.0.0.0

# Port to listen for new votes on
port: ${port}
disable-v1-protocol: false

tokens:
  # Default token for all server lists, if another isn't supplied.
  default: ${token}

forwarding:
  method: none
  pluginMessaging:
    channel: nuvotifier:votes
log-votes: false
`;
}

function startRelay(folder: string, args: string[], command: string[]): RunningRelay {
  const [program = 'java', ...before] = command;
  const child = spawn(program, [...before, ...SMALL_JVM, '-jar', JAR, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => lines.push(line));
  const ended = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    if (!hasEnded(child)) child.kill(signal);
    await ended;
    return child.exitCode;
  };
  atTheEnd(async () => {
    await end('SIGKILL');
  });
  return {
    child,
    lines,
    says: async (text, limit) => {
      const said = expect.poll(() => lines.join('\n'), limit);
      await (typeof text === 'string' ? said.toContain(text) : said.toMatch(text));
    },
    kill: async () => {
      await end('SIGKILL');
    },
    end: async () => {
      await ended;
      return child.exitCode;
    },
    stop: () => end('SIGTERM'),
  };
}
