import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { DAY, HOUR } from '../../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../../src/platform/document.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { listExclusions } from '../../../src/votes/exclusions/request-exclusion.ts';
import { countVotesOfMonth, voteFigures } from '../../../src/votes/vote-figures.ts';
import { excludeVotes, includeVotes } from '../../support/exclusions.ts';
import { type StoppedClock, stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { accept, ballot, refuse, votesOf } from '../voting.ts';

type ExcludeDeps = { deps: AppDeps; clock: StoppedClock; serverId: ObjectId };

async function excluding(at: string): Promise<ExcludeDeps> {
  const clock = stoppedClock(new Date(at));
  return { deps: { ...(await testDeps()), clock }, clock, serverId: new ObjectId() };
}

const range = (serverId: ObjectId, since: string, until: string, tokenId: ObjectId | null = null) => ({
  serverId,
  since: new Date(since),
  until: new Date(until),
  tokenId,
  reason: 'Bought votes',
});

const total = async ({ deps, serverId }: ExcludeDeps) => (await voteFigures(deps, serverId)).allTimeVotes;

describe('excluding votes', () => {
  it('takes them out of every count, from since to before until; not out of the 24 hours', async () => {
    const all = await excluding('2026-05-31T22:00:00Z');
    const { deps, clock, serverId } = all;
    for (const name of ['One', 'Two', 'Three', 'Four']) {
      await accept(deps, ballot(name, serverId));
      clock.move(HOUR);
    }
    const before = await deps.votes.find({ serverId }).toArray();
    await deps.voteCounts.flush();
    clock.set(new Date('2026-06-01T12:00:00Z'));
    const request = range(serverId, '2026-05-31T23:00:00Z', '2026-06-01T01:00:00Z');
    const exclusion = await excludeVotes(deps, request, 'someone');

    expect(exclusion).toMatchObject({ state: 'excluded', votes: 2, days: ['2026-05-31', '2026-06-01'] });
    expect(await voteFigures(deps, serverId)).toEqual({
      votesCount: 2,
      monthlyVotes: 1,
      allTimeVotes: 2,
    });
    expect(await countVotesOfMonth(deps.votes, serverId, clock.now())).toBe(1);
    expect((await checkVote(deps, serverId, 'Three')).hasVoted).toBe(true);
    await refuse(deps, ballot('Two', serverId));
    expect((await accept(deps, ballot('Five', serverId))).monthlyVotes).toBe(2);
    // How they are forwarded stays as it was.
    const now = await deps.votes.find({ serverId }).toArray();
    expect(before.map(({ delivery }) => delivery)).toEqual(now.slice(0, 4).map(({ delivery }) => delivery));
    expect(await deps.auditLog.find({ action: 'vote.exclude' }).toArray()).toMatchObject([
      {
        by: 'someone',
        serverId,
        details: { exclusionId: exclusion._id.toHexString(), reason: 'Bought votes' },
      },
    ]);
  });

  it('is undone, and a vote under two exclusions stays out until both are', async () => {
    const all = await excluding('2026-05-04T10:00:00Z');
    const { deps, clock, serverId } = all;
    for (const name of ['One', 'Two', 'Three']) {
      await accept(deps, ballot(name, serverId));
      clock.move(HOUR);
    }
    await deps.voteCounts.flush();
    clock.move(3 * DAY);
    const early = await excludeVotes(deps, range(serverId, '2026-05-04', '2026-05-04T11:30:00Z'), 'a');
    const late = await excludeVotes(deps, range(serverId, '2026-05-04T11:00:00Z', '2026-05-05'), 'b');
    expect(await total(all)).toBe(0);
    await includeVotes(deps, early._id, 'c');
    expect(await total(all)).toBe(1);
    await includeVotes(deps, early._id, 'd');
    expect(await includeVotes(deps, late._id, 'c')).toMatchObject({
      state: 'included',
      undone: { by: 'c' },
    });
    expect(await total(all)).toBe(3);

    const votes = await votesOf(deps, serverId);
    expect(votes.filter((vote) => 'excludedAt' in vote || 'excludedBy' in vote)).toEqual([]);
    const undone = await deps.auditLog.find({ action: 'vote.include' }).sort({ at: 1 }).toArray();
    expect(undone.map(({ by }) => by)).toEqual(['c', 'c']);
    expect(await listExclusions(deps, serverId)).toHaveLength(2);
    expect(await includeVotes(deps, new ObjectId(), 'c')).toBeNull();
  });

  it('can be narrowed down to one token, and asked for again without doing more', async () => {
    const all = await excluding('2026-05-04T10:00:00Z');
    const { deps, clock, serverId } = all;
    const bought = ballot('Bought', serverId);
    await accept(deps, bought);
    await accept(deps, ballot('Honest', serverId));
    await deps.voteCounts.flush();
    clock.move(DAY);
    const request = range(serverId, '2026-05-04', '2026-05-05', bought.tokenId);
    const [first, second] = await Promise.all([
      excludeVotes(deps, request, 'someone'),
      excludeVotes(deps, request, 'someone'),
    ]);
    expect(second._id).toEqual(first._id);
    expect(await total(all)).toBe(1);
    expect(await deps.auditLog.countDocuments({ action: 'vote.exclude' })).toBe(1);
  });

  it('refuses a range that is empty or not over, and a missing reason', async () => {
    const { deps, serverId } = await excluding('2026-05-04T10:00:00Z');
    const ask = (since: string, until: string, reason = 'Bought') =>
      excludeVotes(deps, { ...range(serverId, since, until), reason }, 'someone');
    await expect(ask('2026-05-04', '2026-05-04')).rejects.toMatchObject({ code: 'range-empty' });
    await expect(ask('2026-05-04', '2026-05-05')).rejects.toMatchObject({ code: 'range-not-over' });
    await expect(ask('2026-05-03', '2026-05-04', ' ')).rejects.toThrow(InvalidDocumentError);
    expect(await deps.voteExclusions.countDocuments()).toBe(0);
  });

  it('of thousands of votes at once shows how far it is', async () => {
    const all = await excluding('2026-05-04T10:00:00Z');
    const { deps, clock, serverId } = all;
    await accept(deps, ballot('Model', serverId));
    const [model] = await votesOf(deps, serverId);
    if (!model) throw new Error('no vote');
    const activity = Array.from({ length: 2_500 }, (_, i) => ({
      ...model,
      _id: new ObjectId() as never,
      usernameKey: `player${i}`,
    }));
    await deps.votes.insertMany(activity);
    await deps.voteCounts.flush();
    clock.move(DAY);
    const heard: string[] = [];
    const progress = (done: number, of: number) => void heard.push(`${done}/${of}`);
    await excludeVotes(deps, range(serverId, '2026-05-04', '2026-05-05'), 'someone', { progress });
    expect(heard).toEqual(['1000/2501', '2000/2501', '2501/2501']);
    expect(await total(all)).toBe(0);
  });
});
