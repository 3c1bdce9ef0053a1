import { beforeEach, describe, expect, it } from 'vitest';
import { listSample, samplesListed } from '../../src/demo/list-samples.ts';
import type { ListedSample } from '../../src/demo/sample-days.ts';
import { fillSamples } from '../../src/demo/sample-history.ts';
import { isSamplePlayer } from '../../src/demo/sample-players.ts';
import { SAMPLES, type Sample } from '../../src/demo/samples.ts';
import { serverInfo } from '../../src/history/server-info.ts';
import { uptimeDays } from '../../src/history/uptime-days.ts';
import { DAY, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
const written: string[] = [];

const there = (kind: Sample['kind']) => SAMPLES.find((sample) => sample.kind === kind) as Sample;
/** A probed server, a reporting server and one that is gone. */
const SOME = [SAMPLES[2] as Sample, there('reporting'), there('gone')];

beforeEach(async () => {
  deps = await testDeps();
  written.length = 0;
});

async function list(): Promise<ListedSample[]> {
  const known = await samplesListed(deps);
  const place = { address: '127.0.0.1', port: 25_565, queryPort: null };
  return Promise.all(SOME.map((sample) => listSample(deps, known, sample, place)));
}

function fill(listed: ListedSample[], signal = new AbortController().signal): Promise<void> {
  return fillSamples(deps, listed, {
    signal,
    written: (some, ready) => {
      written.push(`${some.map(({ sample }) => sample.name).join(', ')}: ${ready}`);
    },
  });
}

async function info({ serverId }: ListedSample) {
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('there is no server');
  return serverInfo(deps, server);
}

const everything = async () => ({
  samples: await deps.statusSamples.countDocuments({}),
  days: await deps.dailyStats.countDocuments({}),
  votes: await deps.votes.countDocuments({}),
  reviews: await deps.reviews.countDocuments({}),
  approved: await deps.reviews.countDocuments({ state: 'approved' }),
  servers: await deps.servers.countDocuments({}),
});

describe('the history of the demo’s sample servers', () => {
  it('gives all figures from history: by probes, by reports and of a server that is gone', async () => {
    const [asked, reporting, gone] = (await list()) as [ListedSample, ListedSample, ListedSample];
    await fill([asked, reporting, gone]);
    const known = await info(asked);
    expect(known.averagePlayers).toBeGreaterThan(10);
    expect(known.peakPlayers).toBeGreaterThan(known.averagePlayers);
    // The sample servers are on this machine.
    expect(known.averageLatency).toBeGreaterThan(0);
    expect(known.uptimePercentage).toBeGreaterThan(95);
    expect(known.votesCount).toBeGreaterThan(500);
    expect(deps.clock.now().getTime() - known.listedAt.getTime()).toBeGreaterThan(30 * DAY);

    const days = await deps.dailyStats.find({ serverId: reporting.serverId }).toArray();
    expect(days.length).toBeGreaterThanOrEqual(30);
    expect(days.every(({ reports, probes }) => reports.onlineSeconds > 0 && probes.onlineSeconds === 0)).toBe(
      true,
    );
    expect((await info(gone)).uptimePercentage).toBeLessThan(90);
  });

  it('has a day with unknown status, on which our own network was down', async () => {
    const [asked] = await list();
    if (!asked) throw new Error('there is no sample');
    await fill([asked]);
    const days = await uptimeDays(deps, asked.serverId);
    expect(days.filter(({ unknown }) => unknown.canary === DAY / SECOND)).toHaveLength(1);
    expect(days.filter(({ onlineSeconds }) => onlineSeconds > 0)).toHaveLength(29);
  });

  it('gives ranks by the ranking’s formula for each day', async () => {
    const listed = await list();
    await fill(listed);
    await recomputeRanks(deps);
    const places = await deps.rankSnapshots.find({}).toArray();
    const yesterday = addDays(dayOf(deps.clock.now()), -1);
    const last = places.filter(({ month }) => month === yesterday.slice(0, 7));
    expect(last.map(({ days }) => days[yesterday.slice(8)]).toSorted()).toEqual([1, 2, 3]);
  });

  it('has approved reviews, pending reviews and reviews with an answer', async () => {
    await fill(await list());
    const reviews = await deps.reviews.find({}).toArray();
    expect(reviews.filter(({ state }) => state === 'approved').length).toBeGreaterThan(5);
    expect(reviews.some(({ answer }) => answer)).toBe(true);
    expect(
      reviews.every(({ username, createdAt }) => isSamplePlayer(username) && createdAt < new Date()),
    ).toBe(true);
  });

  it('is written once, in the order of the list, and completed after an interruption', async () => {
    const listed = await list();
    const stop = new AbortController();
    const cutShort = fillSamples(deps, listed, {
      signal: stop.signal,
      written: () => stop.abort(new Error('stopped')),
    });
    await expect(cutShort).rejects.toThrow('stopped');
    expect(await deps.auditLog.countDocuments({ action: 'sample.history' })).toBe(1);

    const again = await list();
    expect(again.map(({ serverId }) => serverId)).toEqual(listed.map(({ serverId }) => serverId));
    await fill(again);
    expect(written).toEqual([`${SOME[0]?.name}: 1`, `${SOME[1]?.name}: 2`, `${SOME[2]?.name}: 3`]);
    const all = await everything();
    expect(all).toMatchObject({ servers: 3 });

    written.length = 0;
    await deps.auditLog.deleteOne({ action: 'sample.history', serverId: listed[2]?.serverId ?? null });
    await fill(again);
    expect(written).toEqual([`${SOME[0]?.name}, ${SOME[1]?.name}: 2`, `${SOME[2]?.name}: 3`]);
    expect(await everything()).toMatchObject({
      reviews: all.reviews,
      approved: all.approved,
      days: all.days,
    });
  });
});
