import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { after, DAY, MINUTE, SECOND } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { decideHeld, MOST_DECIDED, type SeenHeld } from '../../../src/votes/exclusions/decide-held.ts';
import { finishExclusion } from '../../../src/votes/exclusions/finish-exclusion.ts';
import { openGroups } from '../../../src/votes/exclusions/held-votes.ts';
import { namesKnownSince } from '../../../src/votes/exclusions/name-ages.ts';
import { requestGroupInclusion } from '../../../src/votes/exclusions/player-exclusion.ts';
import { openQuarantine } from '../../../src/votes/exclusions/quarantine.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { castVote } from '../../support/casting.ts';
import { listServersAt } from '../../support/servers.ts';
import { type StoppedClock, stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const START = new Date('2026-11-21T10:00:00Z');
const NETWORK = { cause: 'network', origin: 'aHashOfANetwork-012345' } as const;
const BY = 'op@example.org';
const LIFT = { is: 'lift' } as const;
const EXCLUDE = { is: 'exclude', reason: 'Bots' } as const;
/** The clock of these tests stands still: nothing waits for votes under way. */
const SETTLED = { settledMs: -MINUTE };

let deps: AppDeps & { clock: StoppedClock };
let alpha: ObjectId;
let beta: ObjectId;

beforeEach(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock(START) };
  const servers = await listServersAt(deps, [1, 2], 'a-token-of-a-test');
  [alpha = new ObjectId(), beta = new ObjectId()] = servers;
});

/** Casts a vote that is held for its network, at the clock's time. */
async function hold(serverId: ObjectId, username: string): Promise<void> {
  const quarantineId = await openQuarantine(deps, serverId, 'One network.', NETWORK);
  await castVote(deps, { serverId, username, tokenId: null, quarantineId });
  await deps.voteCounts.flush();
}

/** What an operator sees now. */
async function look(): Promise<SeenHeld> {
  const { rows } = await openGroups(deps, { limit: 100 });
  return { quarantineIds: rows.flatMap(({ ids }) => ids), until: deps.clock.now() };
}

async function finishAll(): Promise<void> {
  const open = await deps.voteExclusions.find({ state: { $in: ['confirming', 'releasing'] } }).toArray();
  for (const { _id } of open) await finishExclusion(deps, _id, SETTLED);
}

const heldNames = async () => {
  const { rows } = await openGroups(deps, { limit: 100 });
  return rows.map(({ origin, quarantines }) => ({
    origin,
    names: quarantines.flatMap(({ names }) => names.map(({ username }) => username)).toSorted(),
  }));
};

describe('a decision about a group that grew while an operator looked at it', () => {
  /** Two votes are shown; then one more comes to the same server, and one to another server. */
  async function grown(): Promise<SeenHeld> {
    await hold(alpha, 'One');
    await hold(alpha, 'Two');
    const seen = await look();
    deps.clock.move(10 * SECOND);
    await hold(alpha, 'Late');
    await hold(beta, 'Elsewhere');
    deps.clock.move(MINUTE);
    return seen;
  }

  it.each([
    [LIFT, 2],
    [EXCLUDE, 0],
  ])('“$is” covers what was shown, and says what came since', async (decision, counted) => {
    const decided = await decideHeld(deps, decision, await grown(), BY);
    expect(decided).toMatchObject({ missed: 0, later: 2 });
    expect(decided.exclusions).toHaveLength(1);
    await finishAll();

    expect(await voteFigures(deps, alpha)).toMatchObject({ allTimeVotes: counted });
    // The later votes are in one group again, of the same network.
    expect(await heldNames()).toEqual([{ origin: NETWORK.origin, names: ['Elsewhere', 'Late'] }]);
    const held = await deps.votes.findOne({ serverId: alpha, username: 'Late' });
    expect(held).toMatchObject({ delivery: { state: 'none' } });
    expect(held?.quarantinedAt).toBeInstanceOf(Date);
    const stored = await deps.voteExclusions.findOne({ _id: decided.exclusions[0]?._id as ObjectId });
    expect(stored).toMatchObject({ votes: 2, groupId: decided.groupId });
    expect([stored?.shown, stored?.origin]).toEqual([undefined, undefined]);
  });

  it('leaves the later votes to the next decision, which ends the group', async () => {
    await decideHeld(deps, EXCLUDE, await grown(), BY);
    await finishAll();
    deps.clock.move(MINUTE);
    expect((await decideHeld(deps, LIFT, await look(), BY)).exclusions).toHaveLength(2);
    await finishAll();
    expect(await heldNames()).toEqual([]);
    expect(await voteFigures(deps, alpha)).toMatchObject({ allTimeVotes: 1 });
    expect(await voteFigures(deps, beta)).toMatchObject({ allTimeVotes: 1 });
  });

  it('covers the same when it is undone before a worker carries it out, and when a worker repeats it', async () => {
    const { groupId, exclusions } = await decideHeld(deps, EXCLUDE, await grown(), BY);
    await requestGroupInclusion(deps, groupId, 'op@example.org');
    await finishAll();
    await finishExclusion(deps, exclusions[0]?._id as ObjectId, SETTLED);
    expect(await voteFigures(deps, alpha)).toMatchObject({ allTimeVotes: 2 });
    expect(await heldNames()).toMatchObject([{ names: ['Elsewhere', 'Late'] }]);
  });
});

describe('two operators who decide about the same held votes at once', () => {
  it('make one decision about each server; the other one is told', async () => {
    await hold(alpha, 'One');
    await hold(beta, 'One');
    const seen = await look();
    const results = await Promise.all([
      decideHeld(deps, LIFT, seen, 'first@example.org'),
      decideHeld(deps, EXCLUDE, seen, 'second@example.org'),
    ]);
    const decided = results.map(({ exclusions }) => exclusions.length);
    expect((decided[0] ?? 0) + (decided[1] ?? 0)).toBe(2);
    expect(results.map(({ missed }) => missed)).toEqual(decided.toReversed());
    await finishAll();
    // Nobody undid the decision of the other one: each server has one audit entry.
    const audited = await deps.auditLog
      .find({ action: { $in: ['vote.exclude', 'vote.release', 'vote.include'] } })
      .toArray();
    expect(audited).toHaveLength(2);
    expect(audited.some(({ action }) => action === 'vote.include')).toBe(false);
  });
});

it('a press whose answer was lost comes again with the same result; its undo leaves what others decided', async () => {
  await hold(alpha, 'One');
  const ofAlpha = await look();
  await hold(beta, 'One');
  const both = await look();
  await decideHeld(deps, EXCLUDE, ofAlpha, 'first@example.org');
  const exclude = () => decideHeld(deps, EXCLUDE, both, BY);
  const [decided, again] = [await exclude(), await exclude()];
  for (const one of [decided, again])
    expect(one).toMatchObject({ exclusions: [{ serverId: beta }], missed: 1 });
  expect(again.groupId).toEqual(decided.groupId);
  await requestGroupInclusion(deps, again.groupId, BY);
  const states = await deps.voteExclusions.find({}, { sort: { at: 1, _id: 1 } }).toArray();
  expect(Object.fromEntries(states.map((one) => [one.serverId.toHexString(), one.state]))).toEqual({
    [alpha.toHexString()]: 'confirming',
    [beta.toHexString()]: 'releasing',
  });
});

it('one decision covers at most 100 quarantines, and the reason must not be empty', async () => {
  const quarantineIds = Array.from({ length: MOST_DECIDED + 5 }, () => new ObjectId());
  const seen = { quarantineIds, until: START };
  expect(await decideHeld(deps, LIFT, seen, BY)).toMatchObject({ missed: MOST_DECIDED, exclusions: [] });
  await expect(decideHeld(deps, { ...EXCLUDE, reason: ' ' }, seen, BY)).rejects.toThrow();
});

it('names are known since their first vote that counts, imported ones too', async () => {
  await castVote(deps, { serverId: alpha, username: 'Regular', tokenId: null });
  await castVote(deps, { serverId: alpha, username: 'Imported', tokenId: null });
  const earlier = after(START, -90 * DAY);
  await deps.votes.updateOne(
    { serverId: alpha, username: 'Imported' },
    { $set: { votedAt: earlier, seq: earlier.getTime() - 1e15 } },
  );
  await castVote(deps, { serverId: alpha, username: 'Imported', tokenId: null });
  await hold(alpha, 'Fresh');
  const known = await namesKnownSince(deps, alpha, ['regular', 'imported', 'fresh', 'nobody']);
  expect(known).toEqual(
    new Map([
      ['regular', START],
      ['imported', earlier],
    ]),
  );
});
