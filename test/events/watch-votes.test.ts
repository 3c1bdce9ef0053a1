import { MongoNetworkError, ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { eventIdOf } from '../../src/events/event.ts';
import { milestoneUpTo } from '../../src/events/sources/milestones.ts';
import { createVoteWatch } from '../../src/events/sources/watch-votes.ts';
import { setGoal } from '../../src/goals/change-goal.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { NEVER, sourceBench, subscribe } from './source-bench.ts';

test('a vote that counts is stored as one event, with its number in the month, for each subscription that wants it', async () => {
  const bench = await sourceBench();
  const { deps, clock, look, cast, serverId, events } = bench;
  const wanting = [
    await bench.subscribe(['vote.counted']),
    await bench.subscribe(['vote.counted', 'milestone']),
  ];
  await bench.subscribe(['server.offline']);
  await look();
  clock.move(SECOND);
  const [first, second] = await cast(2);
  expect(await look()).toEqual({ servers: 1, events: 2 });
  const stored = await events();
  expect(stored).toMatchObject([
    {
      type: 'vote.counted',
      at: clock.now(),
      data: { monthly_votes: 1, voted_at: clock.now().toISOString() },
    },
    { type: 'vote.counted', data: { monthly_votes: 2 } },
  ]);
  expect(new Set(stored.map(({ voteId }) => voteId?.toString()))).toEqual(
    new Set([first, second].map((vote) => vote?._id.toString())),
  );
  expect(stored[0]?._id).toBe(eventIdOf('vote.counted', String(stored[0]?.voteId)));
  for (const { sends } of stored) expect(sends.map(({ to }) => to)).toEqual(wanting);
  const called = await deps.subscriptions.find({ serverId, calls: { $gt: 0 } }).toArray();
  expect(called.map(({ _id }) => _id)).toEqual(wanting);
});

test('a vote is stored once, and a look without new votes wakes no subscription', async () => {
  const { deps, clock, look, lookAnew, cast, subscribe, events } = await sourceBench();
  const to = await subscribe(['vote.counted']);
  await look();
  await cast();
  for (let n = 0; n < 6; n += 1) {
    await look();
    clock.move(10 * SECOND);
  }
  expect(await deps.subscriptions.findOne({ _id: to })).toMatchObject({ calls: 1 });
  await lookAnew();
  expect(await events()).toHaveLength(1);
});

test('nothing is read of a site without goals and such subscriptions', async () => {
  const { deps, look, cast, subscribe } = await sourceBench();
  await subscribe(['server.offline']);
  await subscribe(['vote.counted'], { pause: { at: new Date(), by: 'gone' } });
  await cast();
  const finds = [
    vi.spyOn(deps.votes, 'find'),
    vi.spyOn(deps.votes, 'aggregate'),
    vi.spyOn(deps.voteCounters, 'find'),
  ];
  expect(await look()).toEqual({ servers: 0, events: 0 });
  for (const find of finds) expect(find).not.toHaveBeenCalled();
});

test('a look that fails after it has seen a vote counts it for the goal in the next one', async () => {
  const { deps, clock, look, cast, subscribe, serverId, events } = await sourceBench();
  await subscribe(['vote.counted', 'goal.reached']);
  await setGoal(deps, serverId, { target: '1', period: 'rolling', text: '' }, 'test');
  await look();
  clock.move(SECOND);
  await cast();
  vi.spyOn(deps.voteGoals, 'findOne').mockRejectedValueOnce(new MongoNetworkError('connection closed'));
  await expect(look()).rejects.toThrow('connection closed');
  await look();
  expect((await events()).map(({ type }) => type).toSorted()).toEqual(['goal.reached', 'vote.counted']);
});

test('a vote that was cast in a look, after a subscription to votes began in it, gets its event', async () => {
  const { deps, clock, look, cast, subscribe, serverId, events } = await sourceBench();
  await setGoal(deps, serverId, { target: '100', period: 'rolling', text: '' }, 'test');
  await look();
  clock.move(SECOND);
  const find = deps.votes.find.bind(deps.votes);
  vi.spyOn(deps.votes, 'find').mockImplementationOnce(((...args: Parameters<typeof find>) => {
    const found = find(...args);
    const toArray = found.toArray.bind(found);
    found.toArray = async () => {
      await subscribe(['vote.counted']);
      await cast();
      return toArray();
    };
    return found;
  }) as never);
  await look();
  expect(await events()).toEqual([]);
  await look();
  expect(await events()).toHaveLength(1);
});

test('votes of before a subscription, imported, held and excluded ones are not sent', async () => {
  const { clock, look, cast, subscribe, events } = await sourceBench();
  await cast();
  clock.move(SECOND);
  await subscribe(['vote.counted']);
  await cast(1, { seq: -1 });
  await cast(1, { excludedAt: clock.now(), excludedBy: [new ObjectId()] });
  await cast(1, { excludedAt: clock.now(), quarantinedAt: clock.now(), excludedBy: [new ObjectId()] });
  const [counted] = await cast();
  await look();
  expect((await events()).map(({ voteId }) => String(voteId))).toEqual([counted._id.toString()]);
});

test('a vote that was inserted 20 s late, and whose increment was lost, is stored by the next look', async () => {
  const { clock, look, cast, subscribe, events, deps, serverId } = await sourceBench();
  await subscribe(['vote.counted']);
  await look();
  const votedAt = clock.now();
  clock.move(20 * SECOND);
  await cast(1, { votedAt: clock.now() });
  await look();
  clock.move(3 * SECOND);
  await cast(1, { votedAt });
  await look();
  expect(await deps.voteCounters.findOne({ serverId })).toBeNull();
  const stored = await events();
  expect(stored.map(({ at }) => at)).toEqual([votedAt, after(votedAt, 20 * SECOND)]);
  // The late one does not change the number of the other.
  expect(stored.map(({ data }) => data.monthly_votes)).toEqual([1, 1]);
});

test('the numbers begin anew with the month, and continue over midnight and a restart', async () => {
  const { clock, look, lookAnew, cast, recount, subscribe, events } =
    await sourceBench('2026-11-29T23:59:50.000Z');
  await cast(3, { votedAt: after(clock.now(), -HOUR) });
  await recount();
  await subscribe(['vote.counted']);
  await look();
  await cast();
  clock.move(15 * SECOND);
  await cast();
  await look();
  clock.move(DAY - 10 * SECOND);
  await recount('2026-11-29');
  await cast();
  clock.move(10 * SECOND);
  await cast();
  await lookAnew();
  const numbers = (await events()).map(({ at, data }) => [at.toISOString().slice(0, 10), data.monthly_votes]);
  expect(numbers).toEqual([
    ['2026-11-29', 4],
    ['2026-11-30', 5],
    ['2026-11-30', 6],
    ['2026-12-01', 1],
  ]);
});

test('after an outage the newest 10,000 votes are stored, and others do not wait for them', async () => {
  const { deps, clock, ownerId, look, cast, subscribe: subscribeHere, events } = await sourceBench();
  const other = await addOwnedServer(deps, ownerId, { name: 'Beta', address: 'beta.example.org' });
  await subscribeHere(['vote.counted']);
  await subscribe(deps, other, ['vote.counted']);
  await look();
  clock.move(MINUTE);
  for (let n = 0; n < 11; n += 1) {
    await cast(1_000);
    clock.move(MINUTE);
  }
  const before = clock.now();
  await cast(1, {}, other);
  await look();
  const stored = await events();
  expect(stored).toHaveLength(10_000);
  expect(stored[0]?.data).toMatchObject({ monthly_votes: 1_001 });
  expect(stored.at(-1)?.data).toMatchObject({ monthly_votes: 11_000 });
  const [ofOther] = await deps.events.find({ serverId: other }).toArray();
  expect(ofOther?.at).toEqual(before);
  const order = await deps.events
    .find()
    .sort({ $natural: 1 })
    .map(({ serverId }) => serverId.equals(other))
    .toArray();
  expect(order.indexOf(true)).toBeLessThan(3_000);
});

test.each([
  'before',
  'after',
] as const)('a look that dies %s its events are stored is repeated', async (when) => {
  const { deps, clock, look, cast, subscribe, events } = await sourceBench();
  const to = await subscribe(['vote.counted']);
  await look();
  await cast();
  clock.move(SECOND);
  const died = new MongoNetworkError('the connection is lost');
  const spy =
    when === 'before'
      ? vi.spyOn(deps.events, 'insertMany').mockRejectedValueOnce(died)
      : vi.spyOn(deps.subscriptions, 'updateMany').mockRejectedValueOnce(died);
  await expect(look()).rejects.toThrow('the connection is lost');
  spy.mockRestore();
  expect(await events()).toHaveLength(when === 'before' ? 0 : 1);
  expect(await deps.subscriptions.findOne({ _id: to })).toMatchObject({ calls: 0 });
  clock.move(10 * SECOND);
  await look();
  expect(await events()).toHaveLength(1);
  expect(await deps.subscriptions.findOne({ _id: to })).toMatchObject({ calls: 1 });
});

test('a look that dies before its place is stored is repeated by another process, which stores nothing twice', async () => {
  const { deps, clock, look, lookAnew, cast, subscribe, events } = await sourceBench();
  await subscribe(['vote.counted']);
  await look();
  await cast();
  vi.spyOn(deps.voteWatches, 'bulkWrite').mockRejectedValueOnce(new Error('the process died'));
  await expect(look()).rejects.toThrow('the process died');
  clock.move(HOUR);
  await cast();
  await lookAnew();
  expect(await events()).toHaveLength(2);
});

test('a server that fails holds up no other, and is looked at again', async () => {
  const {
    deps,
    clock,
    ownerId,
    look,
    cast,
    subscribe: subscribeHere,
    events,
    serverId,
  } = await sourceBench();
  const other = await addOwnedServer(deps, ownerId, { name: 'Beta', address: 'beta.example.org' });
  await subscribeHere(['vote.counted']);
  await subscribe(deps, other, ['vote.counted']);
  await look();
  await cast();
  await cast(1, {}, other);
  const find = deps.votes.find.bind(deps.votes);
  const spy = vi.spyOn(deps.votes, 'find').mockImplementation((filter, options) => {
    if (JSON.stringify(filter).includes(serverId.toHexString())) throw new Error('a damaged document');
    return find(filter, options);
  });
  await look();
  expect(await deps.events.countDocuments({ serverId: other })).toBe(1);
  expect(await events()).toEqual([]);
  spy.mockRestore();
  clock.move(MINUTE);
  await look();
  expect(await events()).toHaveLength(1);
});

test('two processes that look at once store each event once', async () => {
  const { deps, look, cast, subscribe, events } = await sourceBench();
  await subscribe(['vote.counted']);
  await cast(50);
  await Promise.all([look(), createVoteWatch(deps)(NEVER), createVoteWatch(deps)(NEVER)]);
  expect(await events()).toHaveLength(50);
});

test('a goal is reached: its round becomes one event, also if the look dies before it was stored', async () => {
  const { deps, clock, serverId, look, cast, subscribe, events } = await sourceBench();
  await subscribe(['goal.reached']);
  await setGoal(deps, serverId, { target: '5', period: 'rolling', text: 'Double experience' }, 'test');
  await look();
  clock.move(SECOND);
  await cast(12);
  vi.spyOn(deps.events, 'insertMany').mockRejectedValueOnce(new Error('the process died'));
  await expect(look()).rejects.toThrow('the process died');
  clock.move(10 * SECOND);
  await look();
  await look();
  expect(await events()).toMatchObject([
    {
      type: 'goal.reached',
      data: { round: '1', target: 5, period: 'rolling', goal_text: 'Double experience' },
    },
    { type: 'goal.reached', data: { round: '2' } },
  ]);
});

test('votes of all time pass a milestone: it is told once, however the votes change later', async () => {
  const { deps, clock, serverId, look, lookAnew, cast, count, subscribe, events } = await sourceBench();
  await count(await cast(249, { votedAt: after(clock.now(), -HOUR) }));
  await subscribe(['milestone']);
  clock.move(SECOND);
  await count(await cast(1));
  await look();
  expect(await events()).toMatchObject([{ type: 'milestone', at: clock.now(), data: { votes: 250 } }]);
  await deps.voteCounters.updateOne({ serverId }, { $inc: { 'days.21': -5 } });
  clock.move(MINUTE);
  await look();
  await count(await cast(5));
  await lookAnew();
  clock.move(MINUTE);
  await count(await cast(800));
  await look();
  expect((await events()).map(({ data }) => data.votes)).toEqual([250, 1_000]);
});

test('an old server begins with the milestones that it has passed', async () => {
  const { clock, look, cast, count, subscribe, events } = await sourceBench();
  await count(await cast(300, { votedAt: after(clock.now(), -HOUR) }));
  await subscribe(['milestone']);
  await look();
  clock.move(SECOND);
  await count(await cast(1));
  await look();
  expect(await events()).toEqual([]);
});

test.each([
  [99, 0],
  [100, 100],
  [249, 100],
  [250, 250],
  [2_499, 1_000],
  [2_500, 2_500],
  [1_000_000, 1_000_000],
])('the highest milestone of %i votes is %i', (votes, milestone) => {
  expect(milestoneUpTo(votes)).toBe(milestone);
});
