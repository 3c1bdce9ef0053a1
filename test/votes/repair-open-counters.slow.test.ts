/** The repair of today's counters while votes are cast (design rule 8). */

import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { repairOpenCounters } from '../../src/votes/repair-counters.ts';
import { dayOfMonth } from '../../src/votes/vote-counts.ts';
import { listServer } from '../ranking/ranked-servers.ts';
import { castVote } from '../support/casting.ts';
import { excludeVotes } from '../support/exclusions.ts';
import { mongoCommand } from '../support/fault-proxy.ts';
import { storedVote } from '../support/votes.ts';
import { accept, ballot, counted, flushCounts, votesOf, votingForAll } from './voting.ts';

const voting = await votingForAll();
/** So much time passes while some votes are cast. */
const STEP_MS = 3 * SECOND;

const writing = mongoCommand('update', 'vote_counters');

/** Votes whose increments are lost, as those of a process that was killed. */
async function castUncounted({ votes, clock }: AppDeps, serverId: ObjectId, names: string[]): Promise<void> {
  await votes.insertMany(names.map((name) => storedVote(serverId, name, clock.now())));
}

async function listed(): Promise<ObjectId> {
  await voting.one.servers.deleteMany({});
  await voting.one.workLeases.deleteMany({});
  return listServer(voting.one);
}

test('finds increments that were lost once their minute is settled, and changes nothing when run again', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-04T10:00:30.000Z');
  await accept(deps, ballot('Counted', serverId));
  await castUncounted(deps, serverId, ['Lost', 'Lost too']);
  await flushCounts();
  expect((await repairOpenCounters(deps)).drifts).toEqual([]);
  expect(await counted(deps, serverId)).toBe(1);
  clock.move(90 * SECOND);
  const repairs = await Promise.all([repairOpenCounters(deps), repairOpenCounters(deps)]);
  expect(repairs.flatMap(({ drifts }) => drifts)).toEqual([
    { serverId, day: '2026-05-04', counted: 1, votes: 3 },
  ]);
  expect(await counted(deps, serverId)).toBe(3);
  clock.move(MINUTE);
  expect(await repairOpenCounters(deps)).toEqual({ servers: 1, drifts: [] });
});

test('takes away increments that came twice', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-04T10:00:30.000Z');
  const { vote } = await accept(deps, ballot('Steve', serverId));
  deps.voteCounts.add(vote);
  await flushCounts();
  clock.move(2 * MINUTE);
  await repairOpenCounters(deps);
  expect(await counted(deps, serverId)).toBe(1);
});

test('finds what was written or inserted after its minute was repaired', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-04T10:00:30.000Z');
  await castUncounted(deps, serverId, ['Late']);
  const [vote] = await votesOf(deps, serverId);
  if (!vote) throw new Error('no vote');
  clock.move(2 * MINUTE);
  await repairOpenCounters(deps);
  // A mongod that stood still executes what a dead process sent it.
  deps.voteCounts.add(vote);
  await deps.votes.insertOne(storedVote(serverId, 'later', vote.votedAt));
  await deps.votes.insertOne(storedVote(serverId, 'latest', vote.votedAt));
  await flushCounts();
  clock.move(MINUTE);
  await repairOpenCounters(deps);
  expect(await counted(deps, serverId)).toBe(3);
});

test('goes back to where the last repair that ended well began, at most to the beginning of the day', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-04T10:00:30.000Z');
  await repairOpenCounters(deps);
  await castUncounted(deps, serverId, ['Lost']);
  clock.move(3 * HOUR);
  await repairOpenCounters(deps);
  expect(await counted(deps, serverId)).toBe(1);
  // The day's own repair counts the day before, once it is settled.
  await castUncounted(deps, serverId, ['Lost later']);
  clock.move(DAY);
  expect((await repairOpenCounters(deps)).drifts).toEqual([]);
});

test('repairs both days around midnight', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-31T23:59:59.999Z');
  await castUncounted(deps, serverId, ['Last of May']);
  clock.move(1);
  await castUncounted(deps, serverId, ['First of June']);
  clock.move(2 * MINUTE);
  expect((await repairOpenCounters(deps)).drifts).toEqual([
    { serverId, day: '2026-05-31', counted: 0, votes: 1 },
    { serverId, day: '2026-06-01', counted: 0, votes: 1 },
  ]);
});

test('keeps few minutes on a counter', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at('2026-05-04T10:00:30.000Z');
  for (let minute = 0; minute < 60; minute += 1) {
    await accept(deps, ballot(`Player ${minute}`, serverId));
    await flushCounts();
    clock.move(MINUTE);
    expect((await repairOpenCounters(deps)).drifts).toEqual([]);
  }
  const counter = await deps.voteCounters.findOne({ serverId });
  expect(Object.keys(counter?.minutes ?? {}).length).toBeLessThan(30);
  expect(await counted(deps, serverId)).toBe(60);
});

test('counts votes of the previous version, and forgets what that noted on a counter', async () => {
  const serverId = await listed();
  const { deps, clock } = voting.at(new Date());
  const { voteCounters } = deps;
  /** As the previous version counted a vote. */
  const raise = async (name: string) => {
    const votedAt = clock.now();
    await deps.votes.insertOne(storedVote(serverId, name, votedAt));
    await deps.mongo.db.collection('vote_counters').updateOne(
      { serverId, month: votedAt.toISOString().slice(0, 7), 'raises.id': { $ne: new ObjectId() } },
      {
        $inc: { [`days.${dayOfMonth(votedAt)}`]: 1 },
        $push: { raises: { $each: [{ id: new ObjectId(), votes: 1 }], $slice: -32 } } as never,
      },
      { upsert: true },
    );
  };
  await raise('Young');
  await migrateDatabase(deps.mongo);
  // The process that made it looks for it still.
  expect(await voteCounters.findOne({ serverId })).toHaveProperty('raises');
  await accept(deps, ballot('New version', serverId));
  await raise('Old version');
  await flushCounts();
  expect(await counted(deps, serverId)).toBe(3);
  clock.move(2 * MINUTE);
  await repairOpenCounters(deps);
  expect(await counted(deps, serverId)).toBe(3);
  expect(await voteCounters.findOne({ serverId })).not.toHaveProperty('raises');

  const old = { id: ObjectId.createFromTime(Date.now() / SECOND - 120), votes: 1 };
  await voteCounters.updateOne({ serverId }, { $set: { raises: [old], recount: {} } as never });
  await migrateDatabase(deps.mongo);
  await migrateDatabase(deps.mongo);
  const migrated = await voteCounters.findOne({ serverId });
  expect(migrated).not.toHaveProperty('raises');
  expect(migrated).not.toHaveProperty('recount');
});

test('beside casting neither loses nor doubles a vote, whatever increments are lost and votes excluded', async () => {
  const servers = [await listed(), await listServer(voting.one), await listServer(voting.one)];
  const { deps: one, clock } = voting.at('2026-05-04T23:52:00.000Z');
  const other = { ...voting.other, clock: { now: () => after(clock.now(), 2 * SECOND) } };
  let players = 0;
  const cast = async (deps: AppDeps) => {
    players += 1;
    await castVote(deps, ballot(`Player ${players}`, servers[players % 3] as ObjectId));
  };
  const seen: number[] = [];
  const repair = async () => {
    seen.push((await repairOpenCounters(one)).drifts.length);
    for (const serverId of servers) {
      const counters = await one.voteCounters.find({ serverId }).toArray();
      const count = counters.flatMap(({ days }) => Object.values(days)).reduce((sum, n) => sum + n, 0);
      // No figure is ever above the votes that there are.
      expect(count).toBeLessThanOrEqual(await one.votes.countDocuments({ serverId }));
    }
  };
  /** Time passes step by step, however slow the machine is: a vote is inserted within a step, and counted within four. */
  const castFor = async (ms: number) => {
    let repairing: Promise<void> | undefined;
    for (let step = 1; step <= ms / STEP_MS; step += 1) {
      const casting = [one, one, other, other].map(cast);
      clock.move(STEP_MS);
      await Promise.all(casting);
      if (step % 40 === 0) {
        // What is meant for a write that never comes is forgotten at the end.
        const cut = step % 80 === 0 ? 'cutBeforeNext' : 'cutAfterNext';
        void voting.proxy[cut](writing).catch(() => undefined);
      }
      // Every 20 steps a minute ends with increments pending, and a repair begins soon after some of these ends.
      if (step % 4 === 3) await flushCounts();
      if (step % 7 === 0) {
        await repairing;
        repairing = repair();
      }
    }
    await repairing;
  };
  await castFor(10 * MINUTE);
  const excluded = { since: after(clock.now(), -5 * MINUTE), until: after(clock.now(), -MINUTE) };
  const flood = { serverId: servers[0] as ObjectId, ...excluded, tokenId: null, reason: 'A flood' };
  await Promise.all([castFor(4 * MINUTE), excludeVotes(one, flood, 'someone', { settledMs: 0 })]);
  voting.proxy.forget();
  await flushCounts();
  clock.move(3 * MINUTE);
  await repairOpenCounters(one);

  expect(seen.reduce((sum, drifts) => sum + drifts, 0)).toBeGreaterThan(0);
  for (const serverId of servers) {
    const votes = await one.votes.countDocuments({ serverId, excludedAt: { $exists: false } });
    expect(votes).toBeGreaterThan(100);
    expect(await counted(one, serverId)).toBe(votes);
  }
});
