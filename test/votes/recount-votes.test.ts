import { ObjectId } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import { after, DAY, MINUTE, SECOND } from '../../src/clock.ts';
import { dayOf } from '../../src/periods/period-marks.ts';
import { castVote } from '../../src/votes/cast-vote.ts';
import { newRaise, raiseCounter } from '../../src/votes/raise-counter.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { movableClock } from '../support/platform.ts';
import { accept, ballot, counted, votingForAll } from './voting.ts';

const voting = await votingForAll();

/** Long enough for the votes of these tests, which nothing holds up; all are cast by one clock. */
const QUICKLY = { settledMs: 2 * SECOND, clocksDifferMs: SECOND };

describe('recounting a day that is over', () => {
  test('sets what the votes say, whatever stood there', async () => {
    const { platform, clock } = voting.at('2028-02-29T23:59:59.999Z');
    const { serverId } = ballot('');
    await accept(platform, ballot('Steve', serverId));
    clock.move(1);
    await accept(platform, ballot('Alex', serverId));
    clock.move(2 * DAY);
    const days = ['2028-02-28', '2028-02-29', '2028-03-01'];
    expect(await recountVotes(platform, serverId, days)).toEqual([]);

    await platform.voteCounters.updateOne(
      { serverId, month: '2028-02' },
      { $set: { 'days.29': 7, 'days.28': 1 } },
    );
    await platform.voteCounters.deleteOne({ serverId, month: '2028-03' });
    expect(await recountVotes(platform, serverId, days)).toEqual([
      { day: '2028-02-28', counted: 1, votes: 0 },
      { day: '2028-02-29', counted: 7, votes: 1 },
      { day: '2028-03-01', counted: 0, votes: 1 },
    ]);
    expect((await voteFigures(platform, serverId)).allTimeVotes).toBe(2);
    expect(await recountVotes(platform, serverId, days)).toEqual([]);
  });

  test('leaves a vote of the last moment, counted after midnight, to its own counting', async () => {
    const { platform, clock } = voting.at('2026-12-31T23:59:59.999Z');
    const { serverId } = ballot('');
    await accept(platform, ballot('Steve', serverId));
    const { votes } = platform;
    // Inserted as the last of the year, and its counting is still under way.
    const last = await votes.findOne({ serverId });
    if (!last) throw new Error('no vote');
    await votes.insertOne({ ...last, _id: ballot('').serverId as never, usernameKey: 'alex' });
    clock.move(MINUTE);
    const recounting = recountVotes(platform, serverId, ['2026-12-31'], QUICKLY);
    await raiseCounter(platform.voteCounters, newRaise(serverId, last.votedAt));
    await recounting;
    expect((await voteFigures(platform, serverId)).allTimeVotes).toBe(2);
  });

  test('two at once end with what the votes say', async () => {
    const { platform, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    for (const name of ['Steve', 'Alex', 'Notch']) await accept(platform, ballot(name, serverId));
    clock.move(DAY);
    await platform.voteCounters.deleteMany({ serverId });
    await Promise.all(Array.from({ length: 8 }, () => recountVotes(platform, serverId, ['2026-05-04'])));
    expect(await counted(platform, serverId)).toBe(3);
  });
});

describe('recounting today', () => {
  test('is done at once where no vote is under way, and a later vote is counted on top', async () => {
    const { platform, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    await accept(platform, ballot('Steve', serverId));
    await accept(platform, ballot('Alex', serverId));
    clock.move(MINUTE);
    await platform.voteCounters.updateOne({ serverId }, { $set: { 'days.04': 40 } });
    const updates = vi.spyOn(platform.voteCounters, 'updateOne');
    expect(await recountVotes(platform, serverId, ['2026-05-04'])).toEqual([
      { day: '2026-05-04', counted: 40, votes: 2 },
    ]);
    // Nothing is begun whose end would be waited for.
    expect(updates.mock.calls.map(([, change]) => change)).toEqual([{ $set: { 'days.04': 2 } }]);
    updates.mockRestore();
    expect((await accept(platform, ballot('Notch', serverId))).monthlyVotes).toBe(3);
  });

  test('neither loses nor doubles a vote while two processes cast, however late each is counted', async () => {
    const { one, other } = voting;
    const serverId = new ObjectId();
    const day = dayOf(one.clock.now());
    const recounted = new AbortController();
    let number = 0;
    /** Casts one vote after another; the counting of every third is late, and comes after a second. */
    const cast = async (platform: typeof one) => {
      const late: Promise<unknown>[] = [];
      while (!recounted.signal.aborted) {
        number += 1;
        const player = ballot(`Player${number}`, serverId);
        if (number % 3) {
          await castVote(platform, player);
          continue;
        }
        const { promise: second, resolve } = Promise.withResolvers<void>();
        setTimeout(resolve, SECOND);
        const counters = Object.assign(Object.create(platform.voteCounters), {
          findOneAndUpdate: async (...args: unknown[]) => {
            await second;
            return Reflect.apply(platform.voteCounters.findOneAndUpdate, platform.voteCounters, args);
          },
        });
        late.push(castVote({ ...platform, voteCounters: counters }, player));
      }
      await Promise.all(late);
    };
    // Counting failed for some before, and some were counted that are not there.
    await one.voteCounters.insertOne({
      _id: new ObjectId(),
      serverId,
      month: day.slice(0, 7),
      days: { [day.slice(8)]: 1_000 },
    });
    const casting = Promise.all([cast(one), cast(other)]);
    const drifts = await recountVotes(one, serverId, [day], QUICKLY).finally(() => recounted.abort());
    await casting;
    expect(drifts).toHaveLength(1);
    const votes = await one.votes.countDocuments({ serverId });
    expect(votes).toBeGreaterThan(50);
    expect(await counted(one, serverId)).toBe(votes);
  }, 60_000);

  test('goes on after one that died half-way', async () => {
    const { one } = voting;
    const clock = movableClock();
    const { serverId } = ballot('');
    const platform = { ...one, clock };
    const day = dayOf(clock.now());
    await accept(platform, ballot('Steve', serverId));
    const ending = new AbortController();
    const dying = recountVotes(platform, serverId, [day], { ...QUICKLY, signal: ending.signal });
    await expect.poll(async () => (await one.voteCounters.findOne({ serverId }))?.recount).toBeTruthy();
    ending.abort();
    await expect(dying).rejects.toThrow();
    await accept(platform, ballot('Alex', serverId));
    expect(await counted(one, serverId)).toBe(2);
    // A minute later the dead one stands in nobody's way.
    await one.voteCounters.updateOne(
      { serverId },
      { $set: { 'recount.startedAt': after(new Date(), -2 * MINUTE), [`days.${day.slice(8)}`]: 9 } },
    );
    await recountVotes(platform, serverId, [day], QUICKLY);
    expect(await counted(one, serverId)).toBe(2);
  }, 60_000);
});
