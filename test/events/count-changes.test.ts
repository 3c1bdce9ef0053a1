import { globSync, readFileSync } from 'node:fs';
import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { VoteExclusion } from '../../src/votes/exclusions/vote-exclusion.ts';
import { carryOutExclusion } from '../../src/workflows/carry-out-exclusion.ts';
import { excludeVotes, includeVotes } from '../support/exclusions.ts';
import { sourceBench } from './source-bench.ts';

const SETTLED = { settledMs: -HOUR };

function range({ serverId, clock }: Awaited<ReturnType<typeof sourceBench>>) {
  const now = clock.now();
  return { serverId, since: after(now, -DAY), until: now, reason: 'Bots', tokenId: null };
}

/** A server with a subscription, a vote of before it, and one that counts and has its event. */
async function votedBench() {
  const bench = await sourceBench();
  await bench.cast();
  bench.clock.move(SECOND);
  await bench.subscribe(['vote.counted']);
  await bench.look();
  const [vote] = await bench.cast();
  await bench.look();
  bench.clock.move(HOUR);
  return { ...bench, vote };
}

test('an excluded vote is told, and told again when it is returned; votes of before the subscription are not', async () => {
  const bench = await votedBench();
  const { deps, clock, vote, look, events } = bench;
  const { _id } = await excludeVotes(deps, range(bench), 'test', SETTLED);
  const voted_at = vote.votedAt.toISOString();
  expect(await events('vote.excluded')).toMatchObject([
    { voteId: vote._id, at: clock.now(), data: { voted_at } },
  ]);
  await look();
  expect(await events('vote.counted')).toHaveLength(1);
  clock.move(MINUTE);
  await includeVotes(deps, _id, 'test', SETTLED);
  await carryOutExclusion(deps, _id, SETTLED);
  await look();
  expect(await events('vote.counted')).toMatchObject([
    { voteId: vote._id, at: vote.votedAt, data: { monthly_votes: 2 } },
    { voteId: vote._id, at: clock.now(), data: { voted_at } },
  ]);
});

test('a decision that dies after the events and before the votes is carried out again, with the same events', async () => {
  const bench = await votedBench();
  const { deps, clock, vote, events } = bench;
  vi.spyOn(deps.votes, 'updateMany').mockRejectedValueOnce(new Error('the process died'));
  await expect(excludeVotes(deps, range(bench), 'test', SETTLED)).rejects.toThrow('the process died');
  const before = await events('vote.excluded');
  expect(before).toHaveLength(1);
  clock.move(MINUTE);
  const exclusion = (await deps.voteExclusions.findOne({})) as VoteExclusion;
  await carryOutExclusion(deps, exclusion._id, SETTLED);
  expect(await events('vote.excluded')).toEqual(before);
  expect(await deps.votes.findOne({ serverId: vote.serverId, _id: vote._id })).toHaveProperty('excludedAt');
});

test('a decision whose events cannot be stored changes no vote', async () => {
  const bench = await votedBench();
  const { deps, vote, serverId } = bench;
  vi.spyOn(deps.events, 'insertMany').mockRejectedValueOnce(new Error('the disk is full'));
  await expect(excludeVotes(deps, range(bench), 'test', SETTLED)).rejects.toThrow('the disk is full');
  expect(await deps.votes.findOne({ serverId, _id: vote._id })).not.toHaveProperty('excludedAt');
});

test('a held vote counts once when it is released, for destinations of this moment, also if a look finds it too', async () => {
  const { deps, clock, serverId, cast, look, lookAnew, subscribe, events } = await sourceBench();
  const to = await subscribe(['vote.counted']);
  await look();
  clock.move(SECOND);
  const _id = new ObjectId();
  const now = clock.now();
  const [vote] = await cast(1, { excludedAt: now, quarantinedAt: now, excludedBy: [_id] });
  await look();
  expect(await events()).toEqual([]);
  await deps.voteExclusions.insertOne({
    _id,
    serverId,
    since: now,
    until: now,
    isQuarantine: true,
    state: 'quarantined',
    reason: 'unusual',
    by: 'test',
    at: now,
    days: [],
    votes: null,
  } as never);
  clock.move(SECOND);
  const later = await subscribe(['vote.counted']);
  await includeVotes(deps, _id, 'test', SETTLED);
  await lookAnew();
  const sends = [{ to }, { to: later }];
  expect(await events()).toMatchObject([
    {
      type: 'vote.counted',
      sends,
      voteId: vote._id,
      data: { monthly_votes: 1, voted_at: now.toISOString() },
    },
  ]);
});

test('an exclusion while a look runs: each vote has both events, whichever came first', async () => {
  const bench = await votedBench();
  const { deps, clock, cast, look, events } = bench;
  await cast(40);
  clock.move(MINUTE);
  await Promise.all([look(), excludeVotes(deps, range(bench), 'test', SETTLED)]);
  await look();
  expect(await events('vote.excluded')).toHaveLength(41);
  const ids = (await events('vote.counted')).map(({ voteId }) => String(voteId));
  expect(new Set(ids).size).toBe(ids.length);
});

test('a goal counts again what a decision changes, without a new vote', async () => {
  const bench = await sourceBench();
  const { deps, clock, serverId, cast, look, subscribe, events } = bench;
  await subscribe(['goal.reached']);
  await setGoal(deps, serverId, { target: '3', period: 'rolling' }, 'test');
  clock.move(SECOND);
  await cast(2);
  clock.move(HOUR);
  const { _id } = await excludeVotes(deps, range(bench), 'test', SETTLED);
  await cast(1);
  await look();
  expect(await events()).toEqual([]);
  clock.move(HOUR);
  await includeVotes(deps, _id, 'test', SETTLED);
  await look();
  expect(await events()).toMatchObject([{ type: 'goal.reached', data: { round: '1', votes: 3 } }]);
});

test('whoever finishes an exclusion tells goals and subscriptions', () => {
  const calling = globSync('{src,workers}/**/*.ts').filter((path) =>
    /\bfinishExclusion\(/.test(readFileSync(path, 'utf8')),
  );
  expect(calling.toSorted()).toEqual([
    'src/votes/exclusions/finish-exclusion.ts',
    'src/workflows/carry-out-exclusion.ts',
  ]);
});
