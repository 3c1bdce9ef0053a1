import { expect, it } from 'vitest';
import { type Export, exportSamples, exportVotes } from '../../src/import-export/export.ts';
import { sampleImporter } from '../../src/import-export/import-samples.ts';
import { writeVotes } from '../../src/import-export/import-votes.ts';
import { DAY } from '../../src/platform/clock.ts';
import { insert, probe, report } from '../history/samples.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { importText, lines, listedServer } from './importing.ts';

async function linesOf({ lines }: Export): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const line of lines) {
    expect(line.endsWith('\n')).toBe(true);
    found.push(JSON.parse(line));
  }
  return found;
}

it('votes are exported oldest first, without excluded ones', async () => {
  const deps = await testDeps();
  const serverId = await listedServer(deps);
  const first = new Date('2026-01-01T00:00:00.000Z');
  const votes = ['Steve', 'Alex', 'Kim'].map((username, index) => ({
    serverId,
    username,
    votedAt: new Date(first.getTime() + (3 - index) * DAY),
  }));
  await writeVotes(deps, votes);
  await deps.votes.updateOne({ serverId, username: 'Alex' }, { $set: { excludedAt: new Date() } });

  const exported = await exportVotes(deps, serverId, {});
  expect(exported.total).toBe(2);
  expect(await linesOf(exported)).toEqual([
    { server_id: serverId.toHexString(), username: 'Kim', voted_at: '2026-01-02T00:00:00.000Z' },
    { server_id: serverId.toHexString(), username: 'Steve', voted_at: '2026-01-04T00:00:00.000Z' },
  ]);
  const since = new Date('2026-01-02T00:00:00.001Z');
  expect((await exportVotes(deps, serverId, { since })).total).toBe(1);
  expect((await exportVotes(deps, serverId, { until: since })).total).toBe(1);
});

it('the number of votes to come is counted without reading one of them', async () => {
  const deps = await testDeps();
  const serverId = await listedServer(deps);
  const votes = ['Steve', 'Alex'].map((username) => ({
    serverId,
    username,
    votedAt: new Date('2026-01-01'),
  }));
  await writeVotes(deps, votes);
  const { db } = deps.mongo;
  await db.command({ profile: 2 });
  const { total } = await exportVotes(deps, serverId, {});
  await db.command({ profile: 0 });

  expect(total).toBe(2);
  const counts = await db
    .collection('system.profile')
    .find({ ns: /\.votes$/ })
    .toArray();
  expect(counts.map(({ docsExamined }) => docsExamined)).toEqual([0, 0]);
});

it('samples of the 35th day are exported without reports: all that is exported can be imported', async () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const deps = { ...(await testDeps()), clock: stoppedClock(now) };
  await deps.mongo.db.command({ collMod: 'status_samples', expireAfterSeconds: 'off' });
  const serverId = await listedServer(deps);
  const oldest = '2026-10-17T23:59:00Z';
  const kept = '2026-10-18T00:00:00Z';
  await insert(deps, [
    probe(serverId, oldest),
    report(serverId, oldest),
    probe(serverId, kept),
    report(serverId, kept),
  ]);
  const exported = await exportSamples(deps, serverId, {});
  expect(exported.total).toBe(3);
  const text = lines(...(await linesOf(exported)));
  await deps.statusSamples.deleteMany({ serverId });
  const work = { aggregate: async () => undefined, throwIfLost: () => undefined };
  expect(await importText(() => sampleImporter(deps, work), text)).toMatchObject({
    imported: 3,
    refused: 0,
  });
});

it('samples of probes, of reports and of checks that did not count are exported as they are', async () => {
  const deps = await testDeps();
  const serverId = await listedServer(deps);
  const at = new Date();
  const figures = { serverId, onlinePlayers: 3, maxPlayers: 9, latencyMs: 1.5 };
  await deps.statusSamples.insertMany([
    { at, source: 'probe', seconds: 60, status: 'online', ...figures },
    { at: new Date(at.getTime() + 1), source: 'report', seconds: 0, status: 'online', ...figures },
    {
      at: new Date(at.getTime() + 3),
      source: 'probe',
      seconds: 60,
      status: 'online',
      ...figures,
      onlinePlayers: null,
    },
    {
      at: new Date(at.getTime() + 2),
      source: 'probe',
      seconds: 300,
      status: 'unknown',
      reason: 'canary',
      serverId,
      onlinePlayers: 0,
      maxPlayers: 0,
      latencyMs: null,
    },
  ]);
  const same = { server_id: serverId.toHexString(), online_players: 3, max_players: 9, latency_ms: 1.5 };

  expect(await linesOf(await exportSamples(deps, serverId, {}))).toEqual([
    { ...same, at: at.toISOString(), online: true, seconds: 60 },
    { ...same, at: expect.any(String), online: true, source: 'report' },
    {
      server_id: serverId.toHexString(),
      at: expect.any(String),
      online: null,
      online_players: 0,
      max_players: 0,
      latency_ms: null,
      seconds: 300,
      reason: 'canary',
    },
    { ...same, at: expect.any(String), online: true, seconds: 60, online_players: 0, players_hidden: true },
  ]);
});
