import net from 'node:net';
import { status } from 'minecraft-server-util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SampleGameServer } from '../../src/demo/game-server.ts';
import { askHere, at, failureOf } from '../probing/asking.ts';
import { EVENTUALLY } from '../support/eventually.ts';

async function running() {
  const activity = { online: 7, max: 50 };
  const server = new SampleGameServer(() => ({ motd: '§aHello\nthere', version: 'Sample 1', ...activity }));
  await server.start();
  onTestFinished(() => server.stop());
  return { server, activity };
}

describe('The sample game server', () => {
  it('answers a Minecraft client that we did not write', async () => {
    const { server } = await running();
    const answer = await status('127.0.0.1', server.port, { enableSRV: false });
    expect(answer.players).toMatchObject({ online: 7, max: 50 });
    expect(answer.motd.raw).toContain('§aHello');
    expect(answer.version.name).toBe('Sample 1');
    expect(answer.roundTripLatency).toBeGreaterThanOrEqual(0);
  });

  it('reports the current number of players', async () => {
    const { server, activity } = await running();
    const ask = askHere();
    expect(await ask(at(server.port, 'minecraft'))).toMatchObject({
      answer: { onlinePlayers: 7, motd: '§aHello\nthere' },
    });
    activity.online = 8;
    expect(await ask(at(server.port, 'minecraft'))).toMatchObject({ answer: { onlinePlayers: 8 } });
  });

  it('reads a request in pieces, and drops connections without a valid request', async () => {
    const { server } = await running();
    const socket = net.connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let heard = 0;
    socket.on('data', (bytes) => {
      heard += bytes.length;
    });
    socket.setNoDelay(true);
    for (const byte of [0x01, 0x00]) socket.write(Buffer.from([byte]));
    await vi.waitFor(() => expect(heard).toBeGreaterThan(50), EVENTUALLY);
    socket.write(Buffer.alloc(4_000, 0xff));
    await vi.waitFor(() => expect(socket.destroyed).toBe(true), EVENTUALLY);
  });

  it('refuses connections when stopped, and restarts on the same port', async () => {
    const { server } = await running();
    const ask = askHere();
    const { port } = server;
    await server.stop();
    expect(failureOf(await ask(at(port, 'minecraft')))).toBe('connection-refused');
    await server.start();
    expect(await ask(at(port, 'minecraft'))).toMatchObject({ ok: true });
  });
});
