import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
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

it('knows the players of a server only from checks that saw a number', async () => {
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
    counted: 4,
    offline: 0,
    'hidden for a while': 7,
    'hidden before, and not now': 5,
  });
});
