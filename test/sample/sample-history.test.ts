import type { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../src/clock.ts';
import type { Platform } from '../../src/platform.ts';
import { writeSampleHistory } from '../../src/sample/sample-history.ts';
import { serverInfo } from '../../src/status/server-info.ts';
import { listedServer } from '../moving/importing.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testPlatform } from '../support/test-platform.ts';

let clock: StoppedClock;
let platform: Platform;
let serverId: ObjectId;

beforeEach(async () => {
  // Half past three in the night of today: what comes 20 minutes later is of the same day.
  clock = stoppedClock(new Date(`${new Date().toISOString().slice(0, 10)}T03:30:00.000Z`));
  platform = { ...(await testPlatform()), clock };
  serverId = await listedServer(platform, 'Sample');
});

async function info() {
  const server = await platform.servers.findOne({ _id: serverId });
  if (!server) throw new Error('there is no server');
  return serverInfo(platform, server);
}

const everything = async () => ({
  samples: await platform.statusSamples.countDocuments({ serverId }),
  days: await platform.dailyStats.countDocuments({ serverId }),
  votes: await platform.votes.countDocuments({ serverId }),
});

describe('the history of the demo’s sample server', () => {
  it('gives every figure that comes from history', async () => {
    expect(await writeSampleHistory(platform, serverId)).toBe(true);
    const { averagePlayers, peakPlayers, averageLatency, uptimePercentage, votesCount, ...rest } =
      await info();

    expect(averagePlayers).toBeGreaterThan(10);
    expect(peakPlayers).toBeGreaterThan(averagePlayers);
    expect(averageLatency).toBeGreaterThan(10);
    expect(uptimePercentage).toBeGreaterThan(99);
    expect(uptimePercentage).toBeLessThan(100);
    expect(votesCount).toBeGreaterThan(500);
    expect(rest.allTimeVotes).toBeGreaterThanOrEqual(votesCount);
    expect(clock.now().getTime() - rest.listedAt.getTime()).toBeGreaterThan(30 * 24 * HOUR);
    expect(await everything()).toMatchObject({ samples: 30 * 288 + 42, days: 30 });
    expect(await platform.auditLog.findOne({ action: 'sample.history' })).toMatchObject({ by: 'demo' });
  });

  it('is written once, and completed where it was cut short', async () => {
    await writeSampleHistory(platform, serverId);
    const first = await everything();
    const figures = await info();
    clock.move(20 * MINUTE);
    expect(await writeSampleHistory(platform, serverId)).toBe(false);
    expect(await everything()).toEqual(first);

    await platform.auditLog.deleteOne({ action: 'sample.history' });
    expect(await writeSampleHistory(platform, serverId)).toBe(true);
    expect(await everything()).toMatchObject({ samples: first.samples + 4, days: 30 });
    const { averagePlayers, peakPlayers, uptimePercentage } = await info();
    expect(figures).toMatchObject({ averagePlayers, peakPlayers, uptimePercentage });
  });
});
