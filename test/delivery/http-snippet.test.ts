import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import { postVote } from '../../src/delivery/http/http-client.ts';
import { newSigningSecret } from '../../src/delivery/http/http-message.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const ROOT = new URL('../../', import.meta.url);

/** The listener from docs/delivery.md, copied unchanged. */
function documentedListener(): string {
  const page = readFileSync(new URL('docs/delivery.md', ROOT), 'utf8');
  const [, code] = /```js\n(.*?)```/s.exec(page) ?? [];
  if (!code) throw new Error('docs/delivery.md shows no listener');
  return code;
}

it('the listener in the documentation takes a vote once and refuses a message that is not signed with its secret', async () => {
  const secret = newSigningSecret();
  const port = await freePort();
  const child = spawn(process.execPath, ['--input-type=module', '-e', documentedListener()], {
    cwd: fileURLToPath(ROOT),
    env: { VOTE_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await vi.waitFor(async () => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect').finally(() => socket.destroy());
  }, EVENTUALLY);

  const send = (by: string) =>
    postVote(
      {
        protocol: 'http',
        url: `http://127.0.0.1:${port}/`,
        serverId: '0123456789abcdef01234567',
        secret: by,
        previous: null,
      },
      { id: '01998a3e-7e4b-7000-8000-0123456789ab', username: 'Steve', votedAt: new Date() },
      {
        ranges: { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8')], REFUSED_RANGES: [] },
        timeoutMs: 5_000,
        mayWrite: () => true,
      },
      new Date(),
    );
  expect((await send(newSigningSecret())).code).toBe('http-forbidden');
  expect((await send(secret)).code).toBe('acknowledged');
  expect((await send(secret)).code).toBe('acknowledged');
  await vi.waitFor(() => expect(said).toEqual(['Steve voted']), EVENTUALLY);
});
