import { describe, expect, it } from 'vitest';
import {
  type ListenerSettings,
  removeListener,
  resumeListener,
  setListener,
  showListener,
} from '../../src/delivery/change-listener.ts';
import { listenerReason } from '../../src/delivery/diagnosis/listener-reason.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { hasTakenVotes } from '../../src/listeners/listener-state.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { keyLine, OTHER, RIGHT, start, TOKEN, votifier19, votifierPlus } from './known-listeners.ts';

const deliveryBench = deliveryBenchesOfFile();

const WRONG_TOKEN = 'an0ther-t0ken-0123456789';
const NAMES = ['Steve', 'Alex', 'Kai', 'Zoe', 'Noor'];

/** A server, with functions that show its votes and its listener. */
async function stalledBench(env: Record<string, string> = {}) {
  const bench = await deliveryBench(env);
  const { deps, serverId } = bench;
  return {
    ...bench,
    listenerNow: async () => {
      const found = await deps.listeners.findOne({ serverId });
      if (!found) throw new Error('no listener');
      return found;
    },
    shown: async () => {
      const shown = await showListener(deps, serverId);
      if (!shown) throw new Error('no listener');
      return shown;
    },
    deliveries: async () => {
      const votes = await deps.votes.find({ serverId }).sort({ _id: 1 }).toArray();
      return votes.map(({ delivery }) => delivery);
    },
    /** Drains repeatedly, so that the time of every retry has come. */
    async drainFor(hours: number): Promise<void> {
      for (let hour = 0; hour < hours; hour += 1) {
        await bench.drain();
        bench.clock.move(HOUR);
      }
    },
  };
}

type Settings = Partial<ListenerSettings>;

/** A collection whose writes fail, as when MongoDB is unavailable. */
function unwritable<T extends object>(collection: T): T {
  const fail = () => Promise.reject(new Error('connection lost'));
  return Object.assign(Object.create(collection), {
    insertOne: fail,
    updateMany: fail,
    findOneAndUpdate: fail,
  });
}

describe('a listener that refuses a wrong token or key without an answer, and has never taken a vote', () => {
  it.each<[string, () => Promise<number>, wrong: Settings, right: Settings]>([
    [
      'VotifierPlus, which closes on a wrong token',
      () => start(votifierPlus()),
      { secret: WRONG_TOKEN },
      { secret: TOKEN },
    ],
    [
      'Votifier 1.9, which keeps the connection open on a wrong key',
      () => start(votifier19()),
      { protocol: 'votifier-v1', secret: keyLine(OTHER) },
      { protocol: 'votifier-v1', secret: keyLine(RIGHT) },
    ],
  ])('is paused after the first such outcome, so its votes wait, and all arrive when the settings are corrected: %s', async (_, listening, wrong, right) => {
    const bench = await stalledBench();
    const port = await listening();
    await bench.set({ port, ...wrong });
    for (const name of NAMES) await bench.cast(name);

    expect(await bench.drain()).toEqual({ kind: 'paused' });
    await bench.drainFor(3);
    const shown = await bench.shown();
    expect(shown).toMatchObject({ state: 'paused', waiting: 5, unconfirmed: 0 });
    expect(shown.pause).toMatchObject({ by: 'tallyport', code: 'never-acknowledged' });
    expect(listenerReason(shown)?.cause).toMatch(/has taken no vote with its current settings/);
    for (const { ambiguousEnds } of await bench.deliveries()) expect(ambiguousEnds).toBeLessThanOrEqual(1);

    await bench.set({ port, ...right });
    await bench.drainFor(1);
    expect((await bench.deliveries()).map(({ state }) => state)).toEqual(NAMES.map(() => 'delivered'));
    expect(await bench.shown()).toMatchObject({ state: 'active', waiting: 0, unconfirmed: 0 });
  });

  it('is paused again if somebody resumes it without correcting the settings', async () => {
    const bench = await stalledBench();
    await bench.set({ port: await start(votifierPlus()), secret: WRONG_TOKEN });
    await bench.cast('Steve');
    await bench.drain();
    await resumeListener(bench.deps, bench.serverId, 'test');
    expect(await bench.drain()).toEqual({ kind: 'paused' });
    expect(await bench.deliveries()).toMatchObject([{ state: 'waiting', ambiguousEnds: 2 }]);
  });

  it('is not one that took a vote with these settings, also in a document of an older version', () => {
    const [early, late] = [new Date(1_000), new Date(2_000)];
    expect(hasTakenVotes({ updatedAt: late, acknowledgedAt: null, lastDeliveredAt: late })).toBe(false);
    expect(hasTakenVotes({ updatedAt: late, acknowledgedAt: early, lastDeliveredAt: null })).toBe(true);
    expect(hasTakenVotes({ updatedAt: early, lastDeliveredAt: late })).toBe(true);
    expect(hasTakenVotes({ updatedAt: late, lastDeliveredAt: early })).toBe(false);
    expect(hasTakenVotes({ updatedAt: late, lastDeliveredAt: null })).toBe(false);
  });

  it('is one again when its settings change; the same settings again change nothing', async () => {
    const bench = await stalledBench();
    expect(hasTakenVotes(await bench.listenerNow())).toBe(false);
    await bench.cast('Steve');
    await bench.drain();
    expect(await bench.listenerNow()).toMatchObject({
      acknowledgedAt: expect.any(Date),
      lastDeliveryConfirmed: true,
    });
    await bench.set({});
    expect(hasTakenVotes(await bench.listenerNow())).toBe(true);
    await bench.set({ secret: WRONG_TOKEN });
    expect(hasTakenVotes(await bench.listenerNow())).toBe(false);
  });

  it('is still one after an attempt with earlier settings ends well', async () => {
    const bench = await stalledBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    bench.listener.stall();
    await bench.cast('Steve');
    const draining = bench.drain();
    await expect.poll(() => bench.listener.held).toBe(1);
    await bench.set({ secret: WRONG_TOKEN });
    bench.listener.release();
    await draining;
    expect(await bench.deliveries()).toMatchObject([{ state: 'delivered' }]);
    expect((await bench.listenerNow()).acknowledgedAt).toBeNull();
  });
});

describe('votes that became unconfirmed with a wrong token', () => {
  /** A listener that took votes and whose plugin got another token: two votes were sent three times each. */
  async function usedUp() {
    const bench = await stalledBench();
    const port = await start(votifierPlus());
    await bench.set({ port, secret: TOKEN });
    await bench.cast('First');
    await bench.drain();
    const { deps, serverId } = bench;
    const votes = [await bench.cast('Steve'), await bench.cast('Alex')];
    // As if the plugin had another token now, which the listing does not know.
    const { sealedSecret } = await bench.set({ port, secret: WRONG_TOKEN, resendUsedUp: false });
    const known = { sealedSecret, acknowledgedAt: bench.clock.now() };
    await deps.listeners.updateOne({ serverId }, { $set: known });
    await bench.drainFor(8);
    return { ...bench, votes, port };
  }

  it('are counted, and are sent again when the token is corrected', async () => {
    const bench = await usedUp();
    expect(await bench.shown()).toMatchObject({ waiting: 0, unconfirmed: 2 });
    const { resent } = await bench.set({ port: bench.port, secret: TOKEN });
    expect(resent).toBe(2);
    expect(await bench.shown()).toMatchObject({ waiting: 2, unconfirmed: 0 });
    await bench.drain();
    for (const vote of bench.votes) {
      const { delivery } = await bench.vote(vote);
      expect(delivery).toMatchObject({
        state: 'delivered',
        events: [{ kind: 'resent', by: 'test', from: 'unconfirmed', mayArriveTwice: true }],
      });
    }
    expect((await bench.set({ port: bench.port, secret: TOKEN })).resent).toBe(0);
  });

  it.each([
    'auditLog',
    'votes',
  ] as const)('are sent again if the first change of settings failed half-way and is made again: %s', async (broken) => {
    const bench = await usedUp();
    const { deps, serverId, port } = bench;
    const mended = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret: TOKEN } as const;
    const failing = { ...deps, [broken]: unwritable(deps[broken]) };
    await setListener(failing, serverId, { ...mended, serviceName: 'Tallyport' }, 'test').catch(
      () => undefined,
    );
    await bench.set({ port, secret: TOKEN });
    expect(await bench.shown()).toMatchObject({ waiting: 2, unconfirmed: 0 });
    expect((await bench.set({ port, secret: TOKEN })).resent).toBe(0);
  });

  it('are sent again by the sweep if the form is not sent again', async () => {
    const bench = await usedUp();
    const { deps, serverId, port, clock } = bench;
    const mended = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret: TOKEN } as const;
    const failing = { ...deps, auditLog: unwritable(deps.auditLog) };
    await expect(
      setListener(failing, serverId, { ...mended, serviceName: 'Tallyport' }, 'test'),
    ).rejects.toThrow('connection lost');
    clock.move(3 * MINUTE);
    await Promise.all([sweepDueWork(deps), sweepDueWork(deps)]);
    expect(await bench.shown()).toMatchObject({ waiting: 2, unconfirmed: 0 });
    await bench.drain();
    for (const vote of bench.votes) {
      const { delivery } = await bench.vote(vote);
      expect(delivery).toMatchObject({ state: 'delivered', events: [{ kind: 'resent', by: 'test' }] });
      expect(delivery.events).toHaveLength(1);
    }
    expect((await bench.listenerNow()).resendOwed).toBeNull();
  });

  it('are sent again once; votes that become unconfirmed with the corrected listener are not', async () => {
    const bench = await usedUp();
    const { deps, serverId, port, clock } = bench;
    await bench.set({ port, secret: TOKEN });
    const owed = { silentSince: new Date(0), at: (await bench.listenerNow()).updatedAt, by: 'test' };
    await bench.drain();
    // As if the process had died before it recorded that all were sent, and the votes had become unconfirmed again.
    await deps.listeners.updateOne({ serverId }, { $set: { resendOwed: owed } });
    await deps.votes.updateMany(
      { serverId, 'delivery.events.kind': 'resent' },
      { $set: { 'delivery.state': 'unconfirmed', 'delivery.attempts.$[last].code': 'no-answer' } },
      { arrayFilters: [{ 'last.code': 'acknowledged' }] },
    );
    clock.move(3 * MINUTE);
    await sweepDueWork(deps);
    expect(await bench.shown()).toMatchObject({ waiting: 0, unconfirmed: 2 });
  });

  it('are sent again if the listener was removed and is set again', async () => {
    const bench = await usedUp();
    await removeListener(bench.deps, bench.serverId, 'test');
    const { resent } = await bench.set({ port: bench.port, secret: TOKEN });
    expect(resent).toBe(2);
    await bench.drain();
    expect((await bench.deliveries()).map(({ state }) => state)).toEqual([
      'delivered',
      'delivered',
      'delivered',
    ]);
  });

  it('do not include votes from before the last delivery, if the listener was removed and is set again', async () => {
    const bench = await usedUp();
    const [early] = bench.votes;
    if (!early) throw new Error('not cast');
    await bench.deps.votes.updateOne(
      { serverId: bench.serverId, _id: early._id },
      { $set: { 'delivery.attempts.2.at': new Date(0) } },
    );
    await removeListener(bench.deps, bench.serverId, 'test');
    expect((await bench.set({ port: bench.port, secret: TOKEN })).resent).toBe(1);
    await removeListener(bench.deps, bench.serverId, 'test');
    expect((await bench.set({ port: bench.port, secret: TOKEN, resendUsedUp: false })).resent).toBe(0);
  });

  it('stay unconfirmed if their owner wants that, or if the token is unchanged', async () => {
    const bench = await usedUp();
    expect((await bench.set({ port: bench.port, secret: WRONG_TOKEN })).resent).toBe(0);
    const kept = await bench.set({ port: bench.port, secret: TOKEN, resendUsedUp: false });
    expect(kept.resent).toBe(0);
    expect(await bench.shown()).toMatchObject({ waiting: 0, unconfirmed: 2 });
  });

  it('include neither votes that were answered with an error nor votes from before the last delivery', async () => {
    const bench = await usedUp();
    const { deps, votes } = bench;
    const [worded, early] = votes.map(({ _id }) => ({ serverId: bench.serverId, _id }));
    if (!worded || !early) throw new Error('not cast');
    const last = 'delivery.attempts.2';
    await deps.votes.updateOne(worded, { $set: { [`${last}.code`]: 'garbage-answer' } });
    await deps.votes.updateOne(early, { $set: { [`${last}.at`]: new Date(0) } });
    expect((await bench.set({ port: bench.port, secret: TOKEN })).resent).toBe(0);
  });
});
