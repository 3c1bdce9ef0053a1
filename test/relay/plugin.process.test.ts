import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compileBesideJar } from './compile.ts';
import { HAS_JAVAC, relayBench, SMALL_JVM } from './relay-process.ts';

/** A server with the plugin, which is enabled and disabled on demand. */
function startServer(folder: string) {
  const classPath = compileBesideJar(['PluginHarness.java', 'org/bukkit/plugin/java/JavaPlugin.java']);
  const data = join(folder, 'plugins', 'TallyportRelay');
  const options = [...SMALL_JVM, `-Dplugin.folder=${data}`, '-cp', classPath];
  const child = spawn('java', [...options, 'PluginHarness'], { cwd: folder });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  onTestFinished(() => void child.kill('SIGKILL'));
  const order = async (name: 'enable' | 'disable') => {
    const from = lines.length;
    child.stdin.write(`${name}\n`);
    const isEnd = (line: string) => line.startsWith(`${name}d in `);
    await expect.poll(() => lines.slice(from).some(isEnd)).toBe(true);
    const end = lines.slice(from).find(isEnd) ?? '';
    const [ms = 0, threads = 0] = end.match(/\d+/g)?.map(Number) ?? [];
    return { ms, threads };
  };
  return { child, lines, data, order };
}

describe.skipIf(!HAS_JAVAC)('the relay as a plugin', () => {
  test('writes its configuration, reads it when it is filled in, and hands votes over beside the server', async () => {
    const bench = await relayBench();
    const server = startServer(bench.folder);
    const enabled = await server.order('enable');
    // The work is in a thread of its own.
    expect(enabled).toEqual({ ms: expect.toSatisfy((ms: number) => ms < 2_000), threads: 1 });
    const config = join(server.data, 'tallyport-relay.properties');
    await expect
      .poll(() => server.lines.join('\n'))
      .toMatch(`WARNING Wrote ${config}: fill in server= and key=`);
    expect(readFileSync(config, 'utf8')).toMatch(/^# .*\nserver=\nkey=\n/ms);

    const vote = bench.api.cast('Alice');
    writeFileSync(config, `server=${bench.api.url}\nkey=${bench.api.key}\n`);
    await expect.poll(() => vote.state).toBe('delivered');
    expect(bench.api.calls[0]?.headers['user-agent']).toMatch(/; Bukkit\)$/);
    await expect.poll(() => server.lines.join('\n')).toContain(`INFO vote ${vote.id} of Alice: delivered`);

    // A reload of the server: the same process, a new plugin.
    expect((await server.order('disable')).threads).toBe(0);
    expect(server.lines.join('\n')).toContain('INFO stopped');
    const meanwhile = bench.api.cast('Bob');
    await server.order('enable');
    await expect.poll(() => meanwhile.state).toBe('delivered');
    expect(bench.received()).toEqual(['Alice', 'Bob']);

    // A server that stops does not wait for the relay's threads.
    server.child.stdin.end();
    await once(server.child, 'exit');
    expect(server.child.exitCode).toBe(0);
  });

  test('says that another relay uses its folder, and begins when that one has ended', async () => {
    const bench = await relayBench();
    const server = startServer(bench.folder);
    mkdirSync(server.data, { recursive: true });
    const config = join(server.data, 'tallyport-relay.properties');
    writeFileSync(config, `server=${bench.api.url}\nkey=${bench.api.key}\n`);
    const other = bench.start(['--config', config]);
    await other.says('fetches the votes of');
    await server.order('enable');
    await expect
      .poll(() => server.lines.join('\n'))
      .toContain(`the relay cannot begin: another relay uses ${server.data}`);
    await other.stop();
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.state).toBe('delivered');
  });
});
