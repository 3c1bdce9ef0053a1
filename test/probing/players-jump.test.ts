import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { unusualFigures } from '../../src/moderation/needs-attention.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import { jumpedPlayers } from '../../src/probing/players-jump.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

const NOW = new Date('2026-05-20T12:00:00Z');

it.each([
  ['15 players to 1,000', [14, 15, 15, 16, 15, 14, 16], 1_000, 15],
  ['exactly ten times as many', [15, 15, 15, 15, 15, 15, 15], 150, null],
  ['few players', [1, 1, 1, 1, 1, 1, 1], 99, null],
  ['a single day of 1,000 before', [15, 15, 15, 15, 15, 15, 1_000], 1_000, 15],
  ['four days of 1,000 before', [15, 15, 15, 1_000, 1_000, 1_000, 1_000], 1_000, null],
  ['a server that joined three days ago', [null, null, null, null, 0, 0, 0], 1_000, null],
  ['a server that joined four days ago', [null, null, null, 0, 0, 0, 0], 1_000, 0],
])('%s: found or not', (_, players, found, usual) => {
  const daily = { players } as never;
  const jumped = jumpedPlayers({ daily }, found, NOW).playersJumped;
  expect(jumped).toEqual(usual === null ? undefined : { at: NOW, players: found, usual });
});

it('a check that finds a jump tells the operators for a week', async () => {
  const clock = stoppedClock(NOW);
  const deps = { ...(await testDeps()), clock };
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565, game: 'minecraft' };
  const _id = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  await deps.servers.updateOne({ _id }, { $set: { 'daily.players': [15, 15, 15, 15, 15, 15, 15] } });
  const probe = async (onlinePlayers: number) => {
    clock.move(MINUTE);
    const answer = { onlinePlayers, maxPlayers: 1_000, motd: '', version: '', latencyMs: 20 };
    const ask = async () => ({ ok: true as const, answer });
    const canary = { note: () => {}, works: async () => true };
    await checkServer({ ...deps, ask, canary } as never, (await deps.servers.findOne({ _id })) as never);
    return clock.now();
  };
  const jumps = async () => (await unusualFigures(deps)).playersJumped.rows;
  await probe(20);
  expect(await jumps()).toEqual([]);
  const at = await probe(1_000);
  const row = { server: { _id, name: 'Alpha' }, at, players: 1_000, usual: 15 };
  expect(await jumps()).toEqual([row]);
  await probe(20);
  expect(await jumps()).toEqual([row]);
  clock.set(after(at, 7 * DAY));
  expect(await jumps()).toEqual([]);
});
