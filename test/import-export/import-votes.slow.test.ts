import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { NOT_ARRIVED, resendVotes } from '../../src/delivery/resend-votes.ts';
import { voteImporter, writeVotes } from '../../src/import-export/import-votes.ts';
import { DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { checkVote } from '../../src/votes/cast/cooldown.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { endCooldown } from '../../src/votes/vote-list.ts';
import { castVote } from '../support/casting.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { ballot, counted, votesOf } from '../votes/voting.ts';
import { importText, lines, listedServer } from './importing.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');

let clock: StoppedClock;
let deps: AppDeps;
let serverId: ObjectId;

beforeEach(async () => {
  clock = stoppedClock(NOW);
  deps = { ...(await testDeps()), clock };
  serverId = await listedServer(deps);
});

const ago = (ms: number) => new Date(NOW.getTime() - ms);

/** A line for a vote that was cast `ms` milliseconds before noon. */
const vote = (username: string, ms: number, id = serverId) => ({
  server_id: id.toHexString(),
  username,
  voted_at: ago(ms).toISOString(),
});

function importVotes(text: string, options?: { skipBad?: boolean; dryRun?: boolean }) {
  const recount = (id: ObjectId, days: string[]) => recountVotes(deps, id, days);
  return importText(() => voteImporter(deps, recount), text, options);
}

const cast = (username: string) => castVote(deps, ballot(username, serverId));
const check = (username: string) => checkVote(deps, serverId, username);

describe('imported votes', () => {
  it('keep who voted and when, count in every figure, and are not forwarded', async () => {
    const end = await importVotes(
      lines(vote('Steve', 400 * DAY), vote('Steve', 25 * DAY), vote('Alex', 2 * DAY)),
    );

    expect(end).toEqual({ lines: 3, imported: 3, alreadyThere: 0, refused: 0, refusedLines: [] });
    expect(await voteFigures(deps, serverId)).toEqual({
      votesCount: 2,
      monthlyVotes: 1,
      allTimeVotes: 3,
    });
    const [alex, older, newer] = await votesOf(deps, serverId);
    expect(alex).toMatchObject({ username: 'Alex', votedAt: ago(2 * DAY), tokenId: null });
    expect(alex?.delivery.state).toBe('none');
    expect(older?.votedAt).toEqual(ago(400 * DAY));
    expect(newer?.seq).toBeGreaterThan(older?.seq ?? 0);
    expect(newer?.seq).toBeLessThan(0);
    await deps.listeners.insertOne({ serverId } as never);
    expect(await resendVote(deps, alex?._id as never, 'test')).toEqual({
      kind: 'imported',
    });
    const range = { since: ago(27 * DAY), until: NOW, states: NOT_ARRIVED };
    expect(await resendVotes(deps, serverId, range, 'test')).toMatchObject({ resent: 0 });
  });

  it('are there once, however often and in whatever order they are imported', async () => {
    const first = lines(vote('Steve', 30 * DAY), vote('Alex', 20 * DAY));
    const second = lines(
      vote('Alex', 20 * DAY),
      vote('Kim', 10 * DAY),
      vote('Kim', 10 * DAY),
      vote('Steve', 30 * DAY),
    );
    await importVotes(first);
    const end = await importVotes(second);
    await importVotes(first);

    expect(end).toMatchObject({ imported: 1, alreadyThere: 3 });
    expect(await votesOf(deps, serverId)).toHaveLength(3);
    expect(await counted(deps, serverId)).toBe(3);
  });

  it('are there once when two imports race', async () => {
    const text = lines(
      ...Array.from({ length: 300 }, (_, number) => vote(`Player${number}`, (number + 1) * HOUR)),
    );
    const ends = await Promise.all([importVotes(text), importVotes(text)]);

    expect(ends.map(({ imported }) => imported).reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(await votesOf(deps, serverId)).toHaveLength(300);
    expect(await counted(deps, serverId)).toBe(300);
  });

  it('are there already where they were cast here: an export of ours adds nothing', async () => {
    await cast('Steve');
    await deps.voteCounts.flush();
    clock.move(MINUTE);
    const end = await importVotes(lines(vote('sTEVE', 0)));

    expect(end).toMatchObject({ imported: 0, alreadyThere: 1 });
    expect(await counted(deps, serverId)).toBe(1);
  });

  it('are counted by the next run when the one before died after writing them', async () => {
    const text = lines(vote('Steve', 40 * DAY), vote('Alex', 2 * DAY));
    const died = voteImporter(deps, () => Promise.reject(new Error('killed')));
    await expect(importText(() => died, text)).rejects.toThrow('killed');
    expect(await counted(deps, serverId)).toBe(0);

    expect(await importVotes(text)).toMatchObject({ imported: 0, alreadyThere: 2 });
    expect(await counted(deps, serverId)).toBe(2);
  });

  it('are history: two of a player within 24 hours are both taken', async () => {
    await importVotes(lines(vote('Steve', 50 * HOUR), vote('Steve', 49 * HOUR)));

    expect(await votesOf(deps, serverId)).toHaveLength(2);
    expect((await check('Steve')).hasVoted).toBe(false);
  });

  it('are not more than memory holds: days are counted as the file goes on', async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, number) => listedServer(deps, `S${number}`)),
    );
    const recounted: string[][] = [];
    const text = lines(
      ...ids.flatMap((id) => Array.from({ length: 400 }, (_, day) => vote('Steve', (day + 2) * DAY, id))),
    );
    await importText(
      () =>
        voteImporter(deps, async (_id, days) => {
          recounted.push(days);
        }),
      text,
    );

    expect(recounted.flat()).toHaveLength(60 * 400);
    expect(await deps.votes.countDocuments({ serverId: ids[59] as ObjectId })).toBe(400);
  });

  it('are counted for 50 servers at once, each of them once: counting today is mostly waiting', async () => {
    const ids: ObjectId[] = [];
    for (let number = 0; number < 60; number++) ids.push(await listedServer(deps, `Busy ${number}`));
    let running = 0;
    let most = 0;
    const recounted: string[] = [];
    const recount = async (id: ObjectId, days: string[]) => {
      running += 1;
      most = Math.max(most, running);
      recounted.push(id.toHexString());
      await recountVotes(deps, id, days);
      running -= 1;
    };
    await importText(() => voteImporter(deps, recount), lines(...ids.map((id) => vote('Steve', HOUR, id))));

    expect(most).toBe(50);
    expect(recounted.toSorted()).toEqual(ids.map((id) => id.toHexString()).toSorted());
    for (const id of ids) expect(await counted(deps, id)).toBe(1);
  });
});

describe('the 24 hours of a player with imported votes', () => {
  it('an imported vote under 24 hours old blocks its player, in any spelling', async () => {
    await importVotes(lines(vote('Steve', 30 * HOUR), vote('Steve', 23 * HOUR)));

    expect(await cast('sTEVE')).toMatchObject({ kind: 'refused', nextVoteAt: ago(-HOUR) });
    expect(await check('STEVE')).toEqual({
      hasVoted: true,
      votedAt: ago(23 * HOUR),
      nextVoteAt: ago(-HOUR),
    });
    clock.move(HOUR);
    expect((await check('Steve')).hasVoted).toBe(false);
    expect(await cast('Steve')).toMatchObject({ kind: 'accepted', vote: { seq: 1 } });
  });

  it('an imported vote never opens what a live vote closed', async () => {
    await cast('Steve');
    await importVotes(lines(vote('Steve', 5 * DAY), vote('Steve', 25 * HOUR)));

    expect((await cast('Steve')).kind).toBe('refused');
    clock.move(DAY);
    expect(await cast('Steve')).toMatchObject({ kind: 'accepted', vote: { seq: 2 } });
  });

  it('an imported vote blocks also where an older live vote stands', async () => {
    clock.move(-3 * DAY);
    await cast('Steve');
    clock.set(NOW);
    await importVotes(lines(vote('Steve', HOUR)));

    expect(await cast('Steve')).toMatchObject({ kind: 'refused', nextVoteAt: ago(-23 * HOUR) });
    expect(await check('Steve')).toMatchObject({ hasVoted: true, votedAt: ago(HOUR) });
  });

  it('the later of both counts where both block', async () => {
    clock.move(-10 * HOUR);
    await cast('Steve');
    clock.set(NOW);
    await importVotes(lines(vote('Steve', 20 * HOUR)));

    expect(await check('Steve')).toMatchObject({ votedAt: ago(10 * HOUR) });
    await importVotes(lines(vote('Steve', 5 * HOUR)));
    expect(await check('Steve')).toMatchObject({ votedAt: ago(5 * HOUR) });
  });

  it('can be ended by an operator, whichever vote blocks', async () => {
    clock.move(-10 * HOUR);
    await cast('Steve');
    clock.set(NOW);
    await importVotes(lines(vote('Steve', 5 * HOUR)));

    expect(await endCooldown(deps, serverId, 'Steve', 'test')).toBe(true);
    expect((await cast('Steve')).kind).toBe('accepted');
  });

  it('an import that races with live votes lets one of them in at most', async () => {
    const casts = Array.from({ length: 20 }, () => cast('Steve'));
    const records = [{ serverId, username: 'Steve', votedAt: ago(MINUTE) }];
    const [, ...ends] = await Promise.all([writeVotes(deps, records), ...casts]);

    expect(ends.filter(({ kind }) => kind === 'accepted').length).toBeLessThanOrEqual(1);
    const live = (await votesOf(deps, serverId)).filter(({ seq }) => seq > 0);
    expect(live.length).toBeLessThanOrEqual(1);
    expect((await cast('Steve')).kind).toBe('refused');
  });
});

describe('lines of votes that are refused', () => {
  const BAD: [string, unknown, string][] = [
    ['no JSON', '{"server_id":', 'it is not a JSON value'],
    ['no object', '["Steve"]', 'it is not a JSON object'],
    ['no server id', { username: 'Steve' }, 'server_id must be 24 lower-case hex digits'],
    ['no name', {}, 'username is required and must be a string'],
    ['a line feed in the name', { username: 'Ste\nve' }, 'username must not contain control characters'],
    ['half a character', '', 'username must be valid Unicode'],
    ['no time', { voted_at: 1_700_000_000 }, 'voted_at must be a time such as'],
    ['a day that is none', { voted_at: '2026-02-30T00:00:00Z' }, 'voted_at must be a time such as'],
    ['a time to come', { voted_at: '2026-11-21T12:00:00.001Z' }, 'voted_at must not be in the future'],
    ['a time too early', { voted_at: '1999-12-31T23:59:59Z' }, 'voted_at must not be before the year 2000'],
  ];

  it('are told with their numbers and reasons, and nothing is imported', async () => {
    const bad = BAD.map(([name, change]) => {
      if (name === 'half a character')
        return JSON.stringify({ ...vote('X', DAY) }).replace('"X"', '"\\ud800"');
      if (typeof change === 'string') return change;
      const line: Record<string, unknown> = { ...vote('Steve', DAY), ...(change as object) };
      if (name === 'no server id') delete line.server_id;
      if (name === 'no name') delete line.username;
      return line;
    });
    const end = await importVotes(lines(vote('Alex', DAY), ...bad));

    expect(end).toMatchObject({ lines: 11, imported: 0, refused: 10 });
    expect(end.refusedLines).toEqual(
      BAD.map(([, , reason], index) => ({ line: index + 2, reason: expect.stringContaining(reason) })),
    );
    expect(await votesOf(deps, serverId)).toEqual([]);
  });

  it('are passed over on request, and the rest is imported', async () => {
    const elsewhere = new ObjectId();
    const text = lines(vote('Steve', DAY), 'nonsense', vote('Alex', DAY), vote('Kim', DAY, elsewhere));
    const end = await importVotes(text, { skipBad: true });

    expect(end).toEqual({
      lines: 4,
      imported: 2,
      alreadyThere: 0,
      refused: 2,
      refusedLines: [
        { line: 2, reason: 'it is not a JSON value' },
        { line: 4, reason: `no server is listed with the id ${elsewhere.toHexString()}` },
      ],
    });
    expect(await counted(deps, serverId)).toBe(2);
  });

  it('are told one by one for the first 20 and counted from there on', async () => {
    const end = await importVotes('nonsense\n'.repeat(2_500));

    expect(end.refused).toBe(2_500);
    expect(end.refusedLines.map(({ line }) => line)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it('are found by a dry run, which writes nothing', async () => {
    const end = await importVotes(lines(vote('Steve', DAY), 'nonsense'), { dryRun: true, skipBad: true });

    expect(end).toMatchObject({ lines: 2, imported: 0, refused: 1 });
    expect(await votesOf(deps, serverId)).toEqual([]);
  });
});
