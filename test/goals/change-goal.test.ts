import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { removeGoal, setGoal } from '../../src/goals/change-goal.ts';
import { countGoal } from '../../src/goals/count-goal.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { type GoalBench, goalBench } from './goals.ts';

const BY = 'owner@example.org';
const START = new Date('2026-11-21T10:00:00Z');

describe('a goal', () => {
  let bench: GoalBench;
  beforeAll(async () => {
    bench = await goalBench(START);
  });
  const goal = { target: '5', period: 'day' };

  it.each([
    [{ target: '0' }, { target: 'The target must be a whole number, 1 to 10,000,000.' }],
    [{ target: '10000001' }, { target: 'The target must be a whole number, 1 to 10,000,000.' }],
    [{ target: '1.5' }, { target: 'The target must be a whole number, 1 to 10,000,000.' }],
    [{ target: '1e3' }, { target: 'The target must be a whole number, 1 to 10,000,000.' }],
    [{ target: '' }, { target: 'The target must be a whole number, 1 to 10,000,000.' }],
    [{ period: 'year' }, { period: 'The period must be one of day, week, month, rolling.' }],
    [{ text: 'two\nlines' }, { text: 'The text must have no line breaks and no other control characters.' }],
    [{ text: 'x'.repeat(201) }, { text: 'The text must have at most 200 characters.' }],
  ])('with %j is refused', async (wrong, errors) => {
    const set = setGoal(bench.deps, bench.serverId, { ...goal, ...wrong }, BY);
    await expect(set).rejects.toMatchObject({ errors });
  });

  it.each([
    { ...goal, target: '10000000', text: '🎉'.repeat(200) },
    { ...goal, target: 1, text: '  ' },
  ])('at the bounds is accepted', async (input) => {
    expect(await setGoal(bench.deps, bench.serverId, input, BY)).toMatchObject({
      target: Number(input.target),
      reached: 0,
    });
  });

  it('is null for a server that is not listed', async () => {
    expect(await setGoal(bench.deps, new ObjectId(), goal, BY)).toBeNull();
  });
});

it('the same target and period again change only the text, another target begins a new goal', async () => {
  const { deps, serverId, cast, rounds } = await goalBench(START);
  const first = await setGoal(deps, serverId, { target: 3, period: 'day', text: 'A party' }, BY);
  await cast(4);
  deps.clock.move(MINUTE);
  await countGoal(deps, serverId);
  const same = await setGoal(deps, serverId, { target: '3', period: 'day', text: ' Fireworks ' }, BY);
  expect(same).toMatchObject({ goalId: first?.goalId, since: START, reached: 1, text: 'Fireworks' });
  const without = await setGoal(deps, serverId, { target: 3, period: 'day' }, BY);
  expect(without?.goalId).toEqual(first?.goalId);
  expect(await deps.voteGoals.findOne({ serverId })).not.toHaveProperty('text');

  const other = await setGoal(deps, serverId, { target: 4, period: 'day' }, BY);
  expect(other?.goalId).not.toEqual(first?.goalId);
  expect(await deps.voteGoals.countDocuments({ serverId })).toBe(1);
  expect(other).toMatchObject({ since: deps.clock.now(), reached: 0, reachedAt: null, revision: 0 });
  expect((await deps.servers.findOne({ _id: serverId }))?.goalId).toEqual(other?.goalId);
  await countGoal(deps, serverId);
  expect(await rounds()).toEqual(['2026-11-21']);
  // The round of the first goal expires, as it ended.
  expect(await deps.goalRounds.find({}).toArray()).toMatchObject([{ endedAt: deps.clock.now() }]);
  const audit = await deps.auditLog.find({ serverId }).sort({ _id: 1 }).toArray();
  expect(audit.map(({ action, by, details }) => [action, by, details])).toEqual([
    ['goal.set', BY, { target: 3, period: 'day', text: 'A party' }],
    ['goal.text', BY, { text: 'Fireworks' }],
    ['goal.text', BY, { text: null }],
    ['goal.set', BY, { target: 4, period: 'day', text: null }],
  ]);
});

it('a removed goal is on no page, its rounds expire, and an event that is not stored yet stays', async () => {
  const { deps, serverId, cast } = await goalBench(START);
  await setGoal(deps, serverId, { target: 1, period: 'rolling', text: 'A party' }, BY);
  await cast(2);
  await countGoal(deps, serverId);
  deps.clock.move(SECOND);
  expect(await removeGoal(deps, serverId, BY)).toMatchObject({ target: 1, period: 'rolling' });
  expect(await deps.servers.findOne({ _id: serverId })).not.toHaveProperty('goalId');
  expect(await deps.goalRounds.find({}).toArray()).toMatchObject([
    { round: '1', text: 'A party', isUnannounced: true, endedAt: deps.clock.now() },
    { round: '2', text: 'A party', isUnannounced: true, endedAt: deps.clock.now() },
  ]);
  expect(await removeGoal(deps, serverId, BY)).toBeNull();
  expect(await countGoal(deps, serverId)).toBe(true);
  expect(await deps.auditLog.countDocuments({ action: 'goal.remove' })).toBe(1);
});

it('goals that are set at once leave one goal, which the server names', async () => {
  const { deps, serverId } = await goalBench(START);
  const targets = [1, 2, 3, 4, 5, 6];
  await Promise.all(targets.map((target) => setGoal(deps, serverId, { target, period: 'week' }, BY)));
  expect(await deps.voteGoals.countDocuments({ serverId })).toBe(1);
  expect((await deps.servers.findOne({ _id: serverId }))?.goalId).toBeDefined();
});

it('goes with its server when that is removed', async () => {
  const { deps, serverId, set, cast } = await goalBench(START);
  await set(1, 'rolling');
  await cast(1);
  await countGoal(deps, serverId);
  await removeServer(deps, serverId, 'op@example.org');
  expect([await deps.voteGoals.countDocuments(), await deps.goalRounds.countDocuments()]).toEqual([0, 0]);
  expect(await setGoal(deps, serverId, { target: 1, period: 'day' }, BY)).toBeNull();
});
