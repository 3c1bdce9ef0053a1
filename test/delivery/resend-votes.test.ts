import { describe, expect, it } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { countResendable, NOT_ARRIVED, resendVotes } from '../../src/delivery/resend-votes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { DeliveryState, Vote } from '../../src/votes/vote.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

/** A server with one vote in each state, cast an hour apart, the first of them six hours ago. */
async function rangeBench() {
  const bench = await deliveryBench();
  const { deps, serverId, clock, cast } = bench;
  const start = after(new Date(), -6 * HOUR);
  clock.stop(start);
  const votes = new Map<DeliveryState, Vote>();
  for (const state of ['none', 'waiting', 'sending', 'delivered', 'unconfirmed', 'failed'] as const) {
    const vote = await cast(`player-${state}`);
    await deps.votes.updateOne(
      { serverId, _id: vote._id },
      {
        $set: {
          'delivery.state': state,
          ...(state === 'unconfirmed' ? { 'delivery.ends': { ambiguous: 3 } } : {}),
        },
        $unset:
          state === 'waiting' || state === 'sending'
            ? {}
            : { 'delivery.queuedAt': '', 'delivery.nextAt': '' },
      },
    );
    votes.set(state, vote);
    clock.move(HOUR);
  }
  const states = async () => {
    const found = await deps.votes.find({ serverId }).sort({ votedAt: 1 }).toArray();
    return found.map(({ delivery }) => delivery.state);
  };
  const all = { since: start, until: clock.now() };
  return { ...bench, votes, states, all, start };
}

describe('resending a range of votes', () => {
  it('takes votes that certainly did not arrive, unless other states are named', async () => {
    const { deps, serverId, all, states } = await rangeBench();
    const range = { ...all, states: NOT_ARRIVED };
    expect(await resendVotes(deps, serverId, range, 'test')).toEqual({
      resent: 2,
      mayArriveTwice: 0,
      more: false,
    });
    expect(await states()).toEqual(['waiting', 'waiting', 'sending', 'delivered', 'unconfirmed', 'waiting']);
    // A second run changes nothing: a vote in the queue is not queued twice.
    expect(await resendVotes(deps, serverId, range, 'test')).toMatchObject({ resent: 0 });
  });

  it('says how many of them may arrive twice', async () => {
    const { deps, serverId, all } = await rangeBench();
    const range = { ...all, states: ['delivered', 'unconfirmed', 'failed'] satisfies DeliveryState[] };
    expect(await resendVotes(deps, serverId, range, 'test')).toEqual({
      resent: 3,
      mayArriveTwice: 2,
      more: false,
    });
  });

  it('takes votes from the first moment until before the last, and 30 days old at most', async () => {
    const { deps, serverId, votes, start, clock, states } = await rangeBench();
    const failed = votes.get('failed')?.votedAt ?? new Date();
    const states1: DeliveryState[] = ['failed', 'none'];
    const short = { since: after(start, 1), until: failed, states: states1 };
    expect(await resendVotes(deps, serverId, short, 'test')).toMatchObject({ resent: 0 });
    const exact = { since: failed, until: after(failed, 1), states: states1 };
    expect(await resendVotes(deps, serverId, exact, 'test')).toMatchObject({ resent: 1 });
    clock.move(30 * DAY);
    const late = { since: start, until: clock.now(), states: states1 };
    expect(await resendVotes(deps, serverId, late, 'test')).toMatchObject({ resent: 0 });
    expect((await states()).at(0)).toBe('none');
  });

  it('delivers them in the order in which they were cast, each once, and records the resend in the timeline', async () => {
    const { deps, serverId, cast, drain, listener, clock, vote } = await deliveryBench();
    clock.stop(after(new Date(), -HOUR));
    const cast1 = [];
    for (const name of ['Alex', 'Steve', 'Herobrine']) {
      cast1.push(await cast(name));
      clock.move(MINUTE);
    }
    await drain();
    const range = {
      since: after(clock.now(), -HOUR),
      until: clock.now(),
      states: ['delivered'] as DeliveryState[],
    };
    expect(await resendVotes(deps, serverId, range, 'test')).toMatchObject({
      resent: 3,
      mayArriveTwice: 3,
    });
    await drain();
    const names = ['Alex', 'Steve', 'Herobrine'];
    expect(listener.votes.map(({ username }) => username)).toEqual([...names, ...names]);
    for (const one of cast1) {
      const { events, state } = (await vote(one)).delivery;
      expect({ state, kinds: events.map(({ kind }) => kind) }).toEqual({
        state: 'delivered',
        kinds: ['resent'],
      });
    }
  });

  it('ends even if the listener takes each vote while the range is still being queued', async () => {
    const { deps, serverId, cast, drain, listener, clock } = await deliveryBench();
    clock.stop(new Date());
    for (let player = 0; player < 12; player += 1) await cast(`player-${player}`);
    await drain();
    clock.move(1);
    const range = {
      since: after(clock.now(), -HOUR),
      until: clock.now(),
      states: ['delivered'] as DeliveryState[],
    };
    // Every vote is delivered again as soon as it is in the queue.
    const producer = {
      ...deps.producer,
      add: async () => {
        await drain();
        return true;
      },
    };
    const resent = await resendVotes({ ...deps, producer }, serverId, range, 'test');
    expect(resent?.resent).toBe(12);
    expect(listener.votes).toHaveLength(24);
  });

  it('takes only the votes of one player, in any spelling, and counts them first', async () => {
    const { deps, serverId, all, states } = await rangeBench();
    const range = { ...all, states: NOT_ARRIVED, player: 'PLAYER-Failed' };
    expect(await countResendable(deps, serverId, range)).toEqual({ votes: 1, more: false });
    expect(await resendVotes(deps, serverId, range, 'test')).toMatchObject({ resent: 1 });
    expect(await states()).toEqual(['none', 'waiting', 'sending', 'delivered', 'unconfirmed', 'waiting']);
  });

  it('takes at most the given number, the oldest first, and says that there are more', async () => {
    const { deps, serverId, all, states } = await rangeBench();
    const range = { ...all, states: NOT_ARRIVED };
    expect(await countResendable(deps, serverId, range, 1)).toEqual({ votes: 1, more: true });
    const resent = await resendVotes(deps, serverId, range, 'test', { most: 1 });
    expect(resent).toEqual({ resent: 1, mayArriveTwice: 0, more: true });
    expect(await states()).toEqual(['waiting', 'waiting', 'sending', 'delivered', 'unconfirmed', 'failed']);
    const [entry] = await deps.auditLog.find({ action: 'vote.resend-range' }).toArray();
    expect(entry?.details).toMatchObject({ votes: 1 });
  });

  it('writes who did it to the audit log, and needs a listener', async () => {
    const { deps, serverId, all } = await rangeBench();
    await resendVotes(deps, serverId, { ...all, states: NOT_ARRIVED }, 'ann@example.org');
    const [entry] = await deps.auditLog.find({ action: 'vote.resend-range' }).toArray();
    expect(entry).toMatchObject({ by: 'ann@example.org', details: { votes: 2, states: ['none', 'failed'] } });
    await deps.listeners.deleteOne({ serverId });
    expect(await resendVotes(deps, serverId, { ...all, states: NOT_ARRIVED }, 'test')).toBeNull();
  });
});

describe('if a listener is removed and set again with a new token, votes that got no answer', () => {
  /** Two delivered votes, a third that became unconfirmed an hour later, and a listener that answers again. */
  async function silentBench() {
    const bench = await deliveryBench();
    const { deps, serverId, clock, cast, drain, set } = bench;
    const [old, silent, newest] = [await cast('Steve'), await cast('Noor'), await cast('Alex')];
    await drain();
    clock.move(HOUR);
    const attempt = { 'delivery.attempts.0.at': clock.now(), 'delivery.attempts.0.code': 'no-answer' };
    const ended = { 'delivery.attempts.0.class': 'ambiguous', 'delivery.ends': { ambiguous: 1 } };
    await deps.votes.updateOne(
      { serverId, _id: silent._id },
      {
        $set: { ...attempt, ...ended, 'delivery.state': 'unconfirmed' },
        $unset: { 'delivery.deliveredAt': '' },
      },
    );
    clock.move(HOUR);
    return {
      ...bench,
      old,
      newest,
      async setAgain() {
        await removeListener(deps, serverId, 'test');
        return (await set({})).resent;
      },
    };
  }

  it('are sent again', async () => {
    expect(await (await silentBench()).setAgain()).toBe(1);
  });

  it('are not sent again after a later delivery of an older vote', async () => {
    const { deps, old, drain, setAgain } = await silentBench();
    await resendVote(deps, old._id, 'test');
    await drain();
    expect(await setAgain()).toBe(0);
    // The delivery stays known while the vote is sent once more.
    await resendVote(deps, old._id, 'test');
    expect(await setAgain()).toBe(0);
  });

  it('are not sent again after a late acknowledgement of an older vote', async () => {
    const { deps, serverId, clock, old, setAgain } = await silentBench();
    await deps.votes.updateOne(
      { serverId, _id: old._id },
      { $set: { 'delivery.deliveredAt': clock.now(), 'delivery.attempts.0.lateAt': clock.now() } },
    );
    expect(await setAgain()).toBe(0);
  });
});
