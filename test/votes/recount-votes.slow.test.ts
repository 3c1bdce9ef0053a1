import type { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { excludeVotes, includeVotes } from '../support/exclusions.ts';
import { mongoCommand } from '../support/fault-proxy.ts';
import { storedVote } from '../support/votes.ts';
import { accept, ballot, counted, flushCounts, votingForAll } from './voting.ts';

const voting = await votingForAll();
const writingCounter = mongoCommand('findAndModify', 'vote_counters');

describe('recounting a day that is over', () => {
  test('sets what the votes say, whatever stood there', async () => {
    const { deps, clock } = voting.at('2028-02-29T23:59:59.999Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('Steve', serverId));
    clock.move(1);
    await accept(deps, ballot('Alex', serverId));
    await flushCounts();
    clock.move(2 * DAY);
    const days = ['2028-02-28', '2028-02-29', '2028-03-01'];
    expect(await recountVotes(deps, serverId, days)).toEqual([]);

    await deps.voteCounters.updateOne(
      { serverId, month: '2028-02' },
      { $set: { 'days.29': 7, 'days.28': 1 } },
    );
    await deps.voteCounters.deleteOne({ serverId, month: '2028-03' });
    expect(await recountVotes(deps, serverId, days)).toEqual([
      { day: '2028-02-28', counted: 1, votes: 0 },
      { day: '2028-02-29', counted: 7, votes: 1 },
      { day: '2028-03-01', counted: 0, votes: 1 },
    ]);
    expect((await voteFigures(deps, serverId)).allTimeVotes).toBe(2);
    expect(await recountVotes(deps, serverId, days)).toEqual([]);
  });

  test('leaves a vote of the last moment, whose increment is pending after midnight, to that increment', async () => {
    const { deps, clock } = voting.at('2026-12-31T23:59:59.999Z');
    const { serverId } = ballot('');
    for (const name of ['Steve', 'Alex']) await accept(deps, ballot(name, serverId));
    clock.move(MINUTE);
    await recountVotes(deps, serverId, ['2026-12-31']);
    expect(await counted(deps, serverId)).toBe(2);
    expect(await recountVotes(deps, serverId, ['2026-12-31', '2027-01-01'])).toEqual([]);
  });

  test('two at once end with what the votes say', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    for (const name of ['Steve', 'Alex', 'Notch']) await accept(deps, ballot(name, serverId));
    await flushCounts();
    clock.move(DAY);
    await deps.voteCounters.deleteMany({ serverId });
    await Promise.all(Array.from({ length: 8 }, () => recountVotes(deps, serverId, ['2026-05-04'])));
    expect(await counted(deps, serverId)).toBe(3);
  });
});

describe('recounting today', () => {
  test('is done at once, and a later vote is counted on top', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('Steve', serverId));
    await accept(deps, ballot('Alex', serverId));
    await flushCounts();
    clock.move(2 * MINUTE);
    await deps.voteCounters.updateOne({ serverId }, { $set: { 'days.04': 40 } });
    expect(await recountVotes(deps, serverId, ['2026-05-04'])).toEqual([
      { day: '2026-05-04', counted: 40, votes: 2 },
    ]);
    expect((await accept(deps, ballot('Notch', serverId))).monthlyVotes).toBe(3);
  });

  test('leaves votes of the last minute to their increments, written or pending', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:10.000Z');
    const { serverId } = ballot('');
    const cast = async (names: string[]) => {
      for (const name of names) await accept(deps, ballot(name, serverId));
    };
    await cast(['Old One', 'Old Two']);
    await flushCounts();
    await deps.voteCounters.deleteMany({ serverId });
    clock.move(2 * MINUTE);
    await cast(['Written']);
    await flushCounts();
    await cast(['Pending']);
    const [found] = await recountVotes(deps, serverId, ['2026-05-04']);
    // The pending one may have been written meanwhile.
    expect([1, 2]).toContain(found?.counted);
    expect(found?.votes).toBe((found?.counted ?? 0) + 2);
    expect(await counted(deps, serverId)).toBe(4);
    clock.move(2 * MINUTE);
    expect(await recountVotes(deps, serverId, ['2026-05-04'])).toEqual([]);
  });

  test('that is written later than another one, which read more, is done again', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    for (const name of ['Steve', 'Alex']) await accept(deps, ballot(name, serverId));
    await flushCounts();
    clock.move(HOUR);
    const request = {
      serverId,
      since: new Date('2026-05-04'),
      until: clock.now(),
      tokenId: null,
      reason: 'x',
    };
    let id: ObjectId | undefined;
    const held = voting.proxy.stallNext(writingCounter, async () => {
      id = (await excludeVotes(deps, { ...request, until: after(clock.now(), -MINUTE) }, 'someone'))._id;
    });
    // It has counted both votes; they are excluded before it writes.
    await recountVotes({ ...voting.other, clock }, serverId, ['2026-05-04']);
    await held;
    expect(await counted(deps, serverId)).toBe(0);
    if (id) await includeVotes(deps, id, 'someone');
    expect(await counted(deps, serverId)).toBe(2);
  });

  test('takes excluded votes out at once, those of the last minute too', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:10.000Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('Old', serverId));
    clock.move(HOUR);
    const since = clock.now();
    await accept(deps, ballot('Bought', serverId));
    clock.move(SECOND);
    const until = clock.now();
    await accept(deps, ballot('Honest', serverId));
    await flushCounts();
    clock.move(5 * SECOND);
    const request = { serverId, since, until, tokenId: null, reason: 'Bought votes' };
    const { _id } = await excludeVotes(deps, request, 'someone', { settledMs: 0 });
    expect(await counted(deps, serverId)).toBe(2);
    clock.move(HOUR);
    expect(await recountVotes(deps, serverId, ['2026-05-04'])).toEqual([]);
    await includeVotes(deps, _id, 'someone');
    expect(await counted(deps, serverId)).toBe(3);
  });

  test('counts a vote that was imported into a minute of today', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:10.000Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('Live', serverId));
    await flushCounts();
    await deps.votes.insertOne(storedVote(serverId, 'imported', clock.now(), { seq: -1 }));
    clock.move(5 * MINUTE);
    await recountVotes(deps, serverId, ['2026-05-04']);
    expect(await counted(deps, serverId)).toBe(2);
  });
});
