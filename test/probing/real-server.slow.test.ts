import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';
import { answerOf, askHere, at, failureOf } from './asking.ts';

/** Where Debian's package puts it. */
const OPENTTD = '/usr/games/openttd';

/** Starts a dedicated OpenTTD server on loopback that is not advertised. */
async function startOpenttd(port: number) {
  const home = await mkdtemp(join(tmpdir(), 'tallyport-openttd-'));
  const config = join(home, 'openttd.cfg');
  await writeFile(
    config,
    '[network]\nserver_name = A small railway\nserver_game_type = local\nmax_clients = 12\n',
  );
  const server = spawn(OPENTTD, ['-D', `127.0.0.1:${port}`, '-c', config, '-x'], {
    env: { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
    stdio: 'ignore',
  });
  const exited = once(server, 'exit');
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await exited;
    await rm(home, { recursive: true });
  });
  return { stop: () => server.kill('SIGKILL') && exited };
}

it('A real game server is queried (OpenTTD)', async ({ skip }) => {
  if (!existsSync(OPENTTD)) {
    console.info(`No real game server was asked: ${OPENTTD} is not installed (apt-get install openttd).`);
    skip();
  }
  const ask = askHere();
  const port = await freePort();
  const server = await startOpenttd(port);
  await vi.waitFor(
    async () =>
      expect(answerOf(await ask(at(port, 'openttd')))).toMatchObject({
        onlinePlayers: 0,
        maxPlayers: 12,
        motd: 'A small railway',
        version: expect.stringMatching(/^\d+\.\d+/),
      }),
    { timeout: 60_000, interval: 500 },
  );
  await server.stop();
  expect(failureOf(await ask(at(port, 'openttd')))).toBe('connection-refused');
});
