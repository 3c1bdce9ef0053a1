import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { playersSeen } from '../../src/ranking/evidence/players-seen.ts';
import { listServer, NOTHING } from '../history/samples.ts';
import { testDeps } from '../support/test-deps.ts';

/** Sums of a day, and the players in the last answer; null: hidden, absent: no answer. */
const SERVERS = {
  counted: { sums: { onlineSeconds: 900, playerSeconds: 900, peakPlayers: 4 } },
  offline: { sums: { offlineSeconds: 900 } },
  hidden: { sums: { onlineSeconds: 900, hiddenSeconds: 900 }, now: null },
  'hidden, and offline for a while': {
    sums: { onlineSeconds: 900, hiddenSeconds: 900, offlineSeconds: 900 },
  },
  'hidden for a while': { sums: { onlineSeconds: 900, hiddenSeconds: 600, peakPlayers: 7 }, now: null },
  'hidden before, and not now': { sums: { onlineSeconds: 900, hiddenSeconds: 900 }, now: 5 },
  'not asked': { sums: {} },
};

it('knows the players of a server from its checks; hidden ones count as ten', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const day = dayOf(now);
  const ids = new Map<string, ObjectId>();
  for (const [name, server] of Object.entries(SERVERS)) {
    const serverId = await listServer(deps, name);
    ids.set(name, serverId);
    const probes = { ...NOTHING, ...server.sums };
    await deps.dailyStats.insertOne({ _id: new ObjectId(), serverId, day, probes, reports: NOTHING });
    if (!('now' in server)) continue;
    const at = after(now, -MINUTE);
    const answer = {
      'current.onlinePlayers': server.now ?? 0,
      'current.playersHidden': server.now === null,
      'current.playersSource': 'probes' as const,
      'probe.status': 'online' as const,
      'probe.checkedAt': at,
      'probe.succeededAt': at,
    };
    await deps.servers.updateOne({ _id: serverId }, { $set: answer });
  }
  const servers = await deps.servers.find({ _id: { $in: [...ids.values()] } }).toArray();
  const seen = await playersSeen(deps, servers, day, now);
  expect(Object.fromEntries([...ids].map(([name, id]) => [name, seen.get(id.toHexString())]))).toEqual({
    counted: { most: 4, usual: 0 },
    offline: { most: 0, usual: 0 },
    hidden: { most: 10, usual: 0 },
    'hidden, and offline for a while': { most: 10, usual: 0 },
    'hidden for a while': { most: 10, usual: 0 },
    'hidden before, and not now': { most: 10, usual: 0 },
  });
});

it('takes the median of the seven days before as usual, and days without a check as 0', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const today = dayOf(now);
  const seenAfter = async (players: (number | 'hidden' | null)[]) => {
    const serverId = await listServer(deps);
    const stats = players.flatMap((peakPlayers, before) => {
      if (peakPlayers === null) return [];
      const sums = peakPlayers === 'hidden' ? { hiddenSeconds: 900 } : { peakPlayers };
      const day = addDays(today, -before - 1);
      const probes = { ...NOTHING, onlineSeconds: 900, ...sums };
      return [{ _id: new ObjectId(), serverId, day, probes, reports: NOTHING }];
    });
    await deps.dailyStats.insertMany(stats);
    const server = await deps.servers.findOne({ _id: serverId });
    return (await playersSeen(deps, server ? [server] : [], today, now)).get(serverId.toHexString());
  };
  expect(await seenAfter([900, 20, 10, 30, 40, 15, 25, 1_000])).toEqual({ most: 1_000, usual: 25 });
  expect(await seenAfter([600, 600, 600])).toEqual({ most: 600, usual: 0 });
  expect(await seenAfter([600, 600, 600, 500])).toEqual({ most: 600, usual: 500 });
  expect(await seenAfter([null, null, 12, 'hidden', 14, 13])).toEqual({ most: 14, usual: 10 });
});
