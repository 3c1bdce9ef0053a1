import { createSocket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFakeServer } from '../../src/demo/open-fake-server.ts';
import { SAMPLES, type Sample } from '../../src/demo/samples.ts';
import { plainText } from '../../src/probing/minecraft-text.ts';
import { haveSamePlayers } from '../../src/probing/same-players.ts';
import { askHere, at } from '../probing/asking.ts';

const probed = SAMPLES.filter(({ kind }) => kind === 'probed');
const games = [...new Set(probed.map(({ game }) => game))];

async function open(sample: Sample, number: number) {
  const place = await openFakeServer(sample, number);
  onTestFinished(async () => {
    await place.fakeServer?.stop();
    await place.geyser?.stop();
  });
  return place;
}

describe('The fake server of a sample', () => {
  it('of a server with Geyser answers players of both editions', async () => {
    const sample = SAMPLES.find(({ hasGeyser }) => hasGeyser) as Sample;
    const { address, port, secondAddress = '', secondPort = 0 } = await open(sample, 201);
    const [java, bedrock] = await Promise.all([
      askHere()({ game: 'minecraft', host: address, port, queryPort: null }),
      askHere()({ game: 'mbe', host: secondAddress, port: secondPort, queryPort: null }),
    ]);
    expect([java, bedrock]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(java.ok && bedrock.ok && haveSamePlayers(java, bedrock)).toBe(true);
  });

  it.each(games)('of %s answers the same queries as a real server, at its listed address', async (game) => {
    const sample = probed.find((one) => one.game === game) as Sample;
    const { address, port, queryPort } = await open(sample, 200);
    const probe = await askHere()({ game: game ?? '', host: address, port, queryPort });
    expect(probe).toMatchObject({
      ok: true,
      answer: { maxPlayers: sample.activity.slots, version: sample.version },
    });
    const motd = probe.ok ? plainText(probe.answer.motd) : '';
    expect(motd).toContain(plainText(sample.motd).split('\n')[0]);
    expect(motd).toMatch(/sample/);
    expect(probe.ok && probe.answer.onlinePlayers).toBeLessThanOrEqual(sample.activity.slots);
  });

  it('uses another address if its own is in use', async () => {
    const sample = probed.find(({ game }) => game === 'rust') as Sample;
    const other = createSocket('udp4');
    await new Promise<void>((resolve) => other.bind(28_015, '127.1.0.201', resolve));
    onTestFinished(() => void other.close());
    const { address, port, queryPort } = await open(sample, 201);
    expect(address).toBe('127.0.0.1');
    expect(await askHere()({ game: 'rust', host: address, port, queryPort })).toMatchObject({ ok: true });
  });

  it('does not exist for a server that is gone or reports its own status', async () => {
    for (const sample of SAMPLES.filter(({ kind }) => kind !== 'probed')) {
      expect(await openFakeServer(sample, 202)).not.toHaveProperty('fakeServer');
    }
    expect(await askHere()({ ...at(25_565, 'minecraft'), host: '127.1.0.202' })).toMatchObject({ ok: false });
  });
});
