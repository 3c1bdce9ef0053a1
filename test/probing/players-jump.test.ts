import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { emptySums } from '../../src/history/daily-stats.ts';
import { unusualFigures } from '../../src/moderation/needs-attention.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import { jumpedPlayers } from '../../src/probing/players-jump.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

const NOW = new Date('2026-05-20T12:00:00Z');

it.each([
  ['15 players to 1,000', 15, 1_000, true],
  ['exactly ten times as many', 15, 150, false],
  ['few players', 1, 99, false],
  ['a new server', 0, 1_000, true],
  ['a usual number that is not computed yet', undefined, 1_000, false],
])('%s: a jump or not', (_, usualPlayers, players, isJump) => {
  const daily = { usualPlayers } as never;
  const jumped = jumpedPlayers({ daily }, players, NOW).playersJumped;
  expect(jumped).toEqual(isJump ? { at: NOW, players, usual: usualPlayers } : undefined);
});

it('a check that finds a jump tells the operators for a week', async () => {
  const clock = stoppedClock(NOW);
  const deps = { ...(await testDeps()), clock };
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565, game: 'minecraft' };
  const _id = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  const probes = { ...emptySums(), onlineSeconds: 86_400, peakPlayers: 15 };
  const days = ['2026-05-16', '2026-05-17', '2026-05-18', '2026-05-19'];
  const stats = days.map((day) => ({
    _id: new ObjectId(),
    serverId: _id,
    day,
    probes,
    reports: emptySums(),
  }));
  await deps.dailyStats.insertMany(stats);
  await refreshDailyFigures(deps);
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
