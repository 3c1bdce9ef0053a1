import { ObjectId } from 'mongodb';
import { bindCollections } from '../../src/database/collections.ts';
import type { StatusSample } from '../../src/history/status-sample.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import type { Mongo } from '../../src/platform/mongo.ts';
import { startOfDay } from '../../src/platform/periods/period-marks.ts';
import { newProbeState } from '../../src/servers/listed-servers.ts';

/** The probes of a server in a day: one in five minutes. */
export const ROUNDS = 288;

const BATCH = 20_000;

/** Lists servers with only those fields that the daily work reads, and returns their ids. */
export async function listPlain(mongo: Mongo, count: number, listedAt: Date): Promise<ObjectId[]> {
  const { servers } = bindCollections(mongo);
  const ids = Array.from({ length: count }, () => new ObjectId());
  const listed = ids.map((_id, i) => ({
    _id,
    name: `Server ${i}`,
    slug: `server-${i}`,
    slugs: [`server-${i}`],
    address: 'play.example.org',
    port: 25_565,
    isPremium: false,
    listedAt,
    removedAt: null,
    rankPosition: i + 1,
    ranked: null,
    current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '' },
    daily: { averagePlayers: 0, peakPlayers: 0, probedUptime: null },
    probe: newProbeState(listedAt),
    lastReport: null,
  }));
  for (let from = 0; from < count; from += BATCH)
    await servers.insertMany(listed.slice(from, from + BATCH) as never, { ordered: false });
  return ids;
}

/** Adds a day of probes of each server. Samples come as in production: one round of all servers after the other. */
export async function addSamples(mongo: Mongo, ids: ObjectId[], day: string): Promise<void> {
  const { statusSamples } = bindCollections(mongo);
  let batch: StatusSample[] = [];
  const insert = async () => {
    if (batch.length > 0) await statusSamples.insertMany(batch, { ordered: false });
    batch = [];
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = after(startOfDay(day), (round * DAY) / ROUNDS);
    for (const [i, serverId] of ids.entries()) {
      const status = (i + round) % 50 === 0 ? 'offline' : 'online';
      const onlinePlayers = (i * 7 + round) % 200;
      const found = { status, onlinePlayers, maxPlayers: 200, latencyMs: (i + round) % 90 } as const;
      batch.push({ at, serverId, source: 'probe', seconds: 300, ...found });
      if (batch.length === BATCH) await insert();
    }
  }
  await insert();
}
