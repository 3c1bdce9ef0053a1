/** Votes are counted behind the requests that cast them (design rule 8). */
import { ObjectId } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { countVotesOfMonth } from '../../src/votes/vote-figures.ts';
import { mongoCommand } from '../support/fault-proxy.ts';
import { accept, ballot, counted, flushCounts, votingForAll } from './voting.ts';

const voting = await votingForAll();
const writing = mongoCommand('update', 'vote_counters');
const storedFor = async (serverId: ObjectId) => (await voting.one.voteCounters.findOne({ serverId }))?.days;

describe('increments', () => {
  test('of votes for many servers are written in one command, without anybody asking for it', async () => {
    const requests = Array.from({ length: 20 }, (_, i) => ballot(`Player ${i}`));
    const bulkWrites = vi.spyOn(voting.one.voteCounters, 'bulkWrite');
    onTestFinished(() => bulkWrites.mockRestore());
    await Promise.all(requests.map((request) => accept(voting.one, request)));
    for (const { serverId } of requests) {
      await vi.waitFor(async () => expect(await storedFor(serverId)).toBeDefined());
      expect(await counted(voting.one, serverId)).toBe(1);
    }
    expect(bulkWrites).toHaveBeenCalledOnce();
  });

  test('that are pending are in the answer of the same process, and in no other', async () => {
    const { serverId } = ballot('');
    const held = voting.proxy.stallNext(writing, async () => {
      expect((await accept(voting.one, ballot('Elsewhere', serverId))).monthlyVotes).toBe(1);
    });
    expect((await accept(voting.other, ballot('Here', serverId))).monthlyVotes).toBe(1);
    expect((await accept(voting.other, ballot('Here too', serverId))).monthlyVotes).toBe(2);
    await held;
    expect(await counted(voting.one, serverId)).toBe(3);
    expect((await accept(voting.other, ballot('Later', serverId))).monthlyVotes).toBe(4);
  });

  test('that are written between the reading of a counter and the answer count once in it', async () => {
    const { serverId } = ballot('');
    await accept(voting.other, ballot('First', serverId));
    await flushCounts();
    await accept(voting.other, ballot('Second', serverId));
    const held = voting.proxy.stallNext(mongoCommand('insert', 'votes'), flushCounts);
    expect((await accept(voting.other, ballot('Third', serverId))).monthlyVotes).toBe(3);
    await held;
  });

  test('that are written while a counter is read count once in the answer', async () => {
    const { serverId } = ballot('');
    await accept(voting.other, ballot('First', serverId));
    const held = voting.proxy.stallNext(mongoCommand('find', 'vote_counters'), flushCounts);
    expect((await accept(voting.other, ballot('Second', serverId))).monthlyVotes).toBe(2);
    await held;
  });

  test.each([
    ['before MongoDB had them', 'cutBeforeNext', 0],
    ['after MongoDB had them', 'cutAfterNext', 1],
  ] as const)('lost %s leave the votes accepted and are not written again', async (_, fault, stored) => {
    const { serverId } = ballot('');
    // The fault would meet the pending increments of the test before.
    await flushCounts();
    const cut = voting.proxy[fault](writing);
    expect((await accept(voting.other, ballot('Steve', serverId))).monthlyVotes).toBe(1);
    await cut;
    expect(await counted(voting.one, serverId)).toBe(stored);
    expect(await countVotesOfMonth(voting.one.votes, serverId, new Date())).toBe(1);
  });

  test('of a process that stood still for half a minute are left to the repair', async () => {
    const { serverId } = ballot('');
    await accept(voting.one, ballot('Steve', serverId));
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 31 * SECOND);
    await flushCounts();
    later.mockRestore();
    expect(await storedFor(serverId)).toBeUndefined();
  });

  test('for more than 20,000 counters at once are left to the repair', async () => {
    const bulkWrites = vi
      .spyOn(voting.one.voteCounters, 'bulkWrite')
      .mockRejectedValue(new Error('not sent'));
    const lost = vi.spyOn(voting.one.log, 'warn');
    const votedAt = new Date();
    for (let i = 0; i < 20_001; i += 1) voting.one.voteCounts.add({ serverId: new ObjectId(), votedAt });
    await flushCounts();
    expect(bulkWrites.mock.calls.map(([operations]) => operations.length)).toEqual([20_000]);
    expect(lost.mock.calls.map(([entry]) => entry)).toMatchObject([{ votes: 1 }, { votes: 20_000 }]);
  });

  test('are written before a process closes', async () => {
    const closing = await openAppDeps(voting.one.config, 'closing');
    const { serverId } = ballot('');
    await accept(closing, ballot('Steve', serverId));
    await closing.close();
    expect(await storedFor(serverId)).toBeDefined();
    expect(await counted(voting.one, serverId)).toBe(1);
  });
});
