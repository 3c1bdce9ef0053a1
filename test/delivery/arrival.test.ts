import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { recordOutcomes } from '../../src/delivery/drain/record-outcomes.ts';
import { takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { sendEarlierVotes } from '../../src/delivery/earlier-votes.ts';
import { expireVotes, removeWaitingVotes } from '../../src/delivery/leave-queue.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { countResendable, NOT_ARRIVED, resendVotes } from '../../src/delivery/resend-votes.ts';
import { holdRestoredVote } from '../../src/delivery/restored-votes.ts';
import type { Rewards } from '../../src/listeners/listener.ts';
import { type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { arrivalOf } from '../../src/votes/arrival.ts';
import { claimVote } from '../../src/votes/claims/claim-vote.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

let bench: DeliveryBench;
beforeEach(async () => {
  bench = await deliveryBench();
  bench.clock.stop(bench.clock.now());
  await rewardBy('push');
});

/** Sends the vote that is first in the queue, with this outcome. */
async function send(code: OutcomeCode): Promise<void> {
  const { deps, serverId, clock } = bench;
  clock.move(MINUTE);
  const listener = await deps.listeners.findOne({ serverId });
  if (!listener) throw new Error('no listener');
  const lease = { owner: 'this test', until: after(new Date(), HOUR) };
  const [taken] = await takeVotes(deps, { ...listener, lease }, { test: false }, { most: 1, atOnce: 1 });
  if (!taken) throw new Error('no vote is due');
  const ended = { taken, outcome: outcome(code, 'written'), durationMs: 9, endedAt: clock.now().getTime() };
  await recordOutcomes(deps, [ended]);
}

const rewardBy = (rewards: Rewards) => setRewards(bench.deps, bench.serverId, rewards, 'owner');
const resend = (vote: Vote) => resendVote(bench.deps, vote._id, 'owner');
const remove = () => removeListener(bench.deps, bench.serverId, 'owner');
const arrival = async (vote: Vote) => arrivalOf((await bench.vote(vote)).delivery);
const claim = async ({ username }: Vote) => {
  const { deps, serverId } = bench;
  return (await claimVote(deps, { serverId, username }, { tokenId: new ObjectId() })).kind;
};

async function restore(vote: Vote): Promise<void> {
  const { deps, serverId, clock } = bench;
  const stored = await bench.vote(vote);
  holdRestoredVote(stored, clock.now());
  await deps.votes.replaceOne({ serverId, _id: vote._id }, stored);
}

describe('a vote that arrived, or may have, cannot be claimed after its listener is removed', () => {
  it('if it was delivered before the backup from which it was restored: a plugin may have claimed it since', async () => {
    await rewardBy('both');
    const vote = await bench.cast('Steve');
    await send('acknowledged');
    await restore(vote);
    expect(await arrival(vote)).toBe('arrived');
    expect(await claim(vote)).toBe('claimed-before');
  });

  it('if it was delivered and resent', async () => {
    const vote = await bench.cast('Steve');
    await send('acknowledged');
    await resend(vote);
    await remove();
    expect((await bench.vote(vote)).delivery.state).toBe('none');
    expect(await arrival(vote)).toBe('arrived');
    expect(await claim(vote)).toBe('claimed-before');
  });

  it.each([
    'http-unavailable',
    'http-limited',
    'no-answer',
  ] as const)('if an attempt ended as %s', async (code) => {
    const vote = await bench.cast('Steve');
    await send(code);
    await resend(vote);
    await remove();
    expect(await arrival(vote)).toBe('may-have-arrived');
    expect(await claim(vote)).toBe('claimed-before');
  });

  it('if it was restored from a backup and resent', async () => {
    const vote = await bench.cast('Steve');
    await restore(vote);
    await resend(vote);
    await remove();
    expect(await claim(vote)).toBe('claimed-before');
  });

  it('if it was not forwarded when the backup was made: it may have been claimed or sent since', async () => {
    await remove();
    const vote = await bench.cast('Steve');
    await restore(vote);
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'none',
      events: [{ kind: 'restored' }],
    });
    expect(await arrival(vote)).toBe('may-have-arrived');
    expect(await claim(vote)).toBe('claimed-before');
  });

  it('but one that the listener refused can be claimed', async () => {
    const vote = await bench.cast('Steve');
    await send('vote-refused');
    await remove();
    expect((await bench.vote(vote)).delivery.state).toBe('failed');
    expect(await claim(vote)).toBe('claimed');
  });

  it('but one that every attempt failed to reach can be claimed', async () => {
    const vote = await bench.cast('Steve');
    await send('connection-refused');
    await remove();
    expect(await claim(vote)).toBe('claimed');
  });
});

it('a vote that was being sent in a backup may have arrived, also when the details of that attempt are gone', async () => {
  const { deps, serverId } = bench;
  const vote = await bench.cast('Steve');
  const listener = await deps.listeners.findOne({ serverId });
  if (!listener) throw new Error('no listener');
  const lease = { owner: 'this test', until: after(new Date(), HOUR) };
  await takeVotes(deps, { ...listener, lease }, { test: false }, { most: 1, atOnce: 1 });
  await restore(vote);
  await resend(vote);
  for (let n = 0; n < 21; n += 1) {
    await deps.votes.updateOne(
      { serverId, _id: vote._id },
      { $set: { 'delivery.nextAt': bench.clock.now() } },
    );
    await send('connection-refused');
  }
  await removeWaitingVotes(deps, serverId, 'listener-removed');
  expect(await arrival(vote)).toBe('may-have-arrived');
  const range = { since: new Date(0), until: after(bench.clock.now(), DAY), states: NOT_ARRIVED };
  expect(await resendVotes(deps, serverId, range, 'owner')).toMatchObject({ resent: 0 });
  bench.clock.move(MINUTE);
  expect(await resendVotes(deps, serverId, { ...range, twice: 'also' }, 'owner')).toMatchObject({
    resent: 1,
    mayArriveTwice: 1,
  });
});

it('a vote that a v1 listener took without an answer may have arrived', async () => {
  const vote = await bench.cast('Steve');
  await send('sent-not-confirmed');
  expect(await arrival(vote)).toBe('may-have-arrived');
});

it('a vote that may be sent once is not sent again by new settings', async () => {
  const silent = async (maxSendings: number) => {
    await bench.set({ maxSendings });
    const vote = await bench.cast(`player-${maxSendings}`);
    for (let n = 0; n < maxSendings; n += 1) {
      await send('no-answer');
      bench.clock.move(HOUR);
    }
    expect((await bench.vote(vote)).delivery.state).toBe('unconfirmed');
  };
  await silent(1);
  expect((await bench.set({ maxSendings: 1, serviceName: 'Other' })).resent).toBe(0);
  await remove();
  expect((await bench.set({ maxSendings: 1 })).resent).toBe(0);
  await silent(2);
  expect((await bench.set({ maxSendings: 2, serviceName: 'Other' })).resent).toBeGreaterThan(0);
});

describe('a range that surely did not arrive', () => {
  const range = () => ({ since: new Date(0), until: after(bench.clock.now(), DAY) });
  const inRange = (more: Partial<Parameters<typeof resendVotes>[2]> = {}) => {
    bench.clock.move(MINUTE);
    return resendVotes(bench.deps, bench.serverId, { ...range(), states: NOT_ARRIVED, ...more }, 'owner');
  };

  it('leaves out votes that a plugin claimed, unless they are wanted too', async () => {
    await rewardBy('claims');
    const vote = await bench.cast('Steve');
    expect(await claim(vote)).toBe('claimed');
    await rewardBy('push');
    expect(await inRange()).toMatchObject({ resent: 0 });
    expect(
      await countResendable(bench.deps, bench.serverId, { ...range(), states: NOT_ARRIVED, twice: 'only' }),
    ).toEqual({ votes: 1, more: false });
    expect(await inRange({ twice: 'also' })).toMatchObject({ resent: 1, mayArriveTwice: 1 });
  });

  it('leaves out a vote that expired after an attempt without an answer', async () => {
    const { deps, serverId, clock } = bench;
    const vote = await bench.cast('Steve');
    await send('no-answer');
    clock.move(4 * DAY);
    await deps.votes.updateOne({ serverId, _id: vote._id }, [
      { $set: { 'delivery.expiresAt': { $subtract: ['$$NOW', 1] } } },
    ]);
    expect(await expireVotes(deps, serverId)).toBe(1);
    expect(await inRange()).toMatchObject({ resent: 0 });
    expect(await inRange({ twice: 'only' })).toMatchObject({ resent: 1, mayArriveTwice: 1 });
  });

  it('leaves out a delivered vote whose listener was removed during a resend', async () => {
    const { deps, serverId } = bench;
    const vote = await bench.cast('Steve');
    await send('acknowledged');
    await resend(vote);
    await removeWaitingVotes(deps, serverId, 'listener-removed');
    expect(await inRange()).toMatchObject({ resent: 0 });
    expect(await inRange({ twice: 'only' })).toMatchObject({ resent: 1, mayArriveTwice: 1 });
  });
});

describe('of a claim and a sending at the same moment only one succeeds', () => {
  /** Votes of the last minutes that were not forwarded, while the listener rewards. */
  async function unclaimedVotes(): Promise<Vote[]> {
    await remove();
    const votes = await Promise.all([...'abcdefgh'].map((name) => bench.cast(`player-${name}`)));
    bench.clock.move(MINUTE);
    await bench.set({ rewards: 'push' });
    return votes;
  }
  const outcomesOf = (votes: Vote[]) =>
    Promise.all(
      votes.map(async (vote) => {
        const { claim: claimed, delivery } = await bench.vote(vote);
        return [claimed && 'claimed', delivery.state === 'waiting' && 'sent'].filter(Boolean).length;
      }),
    );

  it('with the button of one vote', async () => {
    const votes = await unclaimedVotes();
    const once = (vote: Vote) => resendVote(bench.deps, vote._id, 'owner', { onlyOnce: true });
    await Promise.all(
      votes.flatMap((vote, n) => (n % 2 ? [claim(vote), once(vote)] : [once(vote), claim(vote)])),
    );
    expect(await outcomesOf(votes)).toEqual(votes.map(() => 1));
  });

  it('with “Send them”', async () => {
    const { deps, serverId } = bench;
    const votes = await unclaimedVotes();
    const all = sendEarlierVotes(deps, serverId, { by: 'owner', byId: new ObjectId() });
    await Promise.all([all, ...votes.map(claim)]);
    expect(await outcomesOf(votes)).toEqual(votes.map(() => 1));
  });
});
