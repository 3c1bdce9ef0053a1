import { describe, expect, it, vi } from 'vitest';
import { after, HOUR, SECOND } from '../../src/clock.ts';
import { drainListener } from '../../src/delivery/drain-listener.ts';
import type { Draining } from '../../src/delivery/draining.ts';
import { outcome } from '../../src/delivery/outcomes.ts';
import { openListener } from '../../src/delivery/send-vote.ts';
import { Yielding } from '../../src/delivery/yielding.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { PATIENT } from '../support/patient.ts';

const NOW = new Date();

/** What `note` reads of a vote that was cast, and put into the line, so many milliseconds before now. */
function vote(castMs: number, queuedMs = castMs): Vote {
  return { votedAt: after(NOW, -castMs), delivery: { queuedAt: after(NOW, -queuedMs) } } as Vote;
}

describe('What was claimed', () => {
  it.each([
    ['nothing', [], { backlog: false, wanted: false }],
    ['votes just cast', [vote(5), vote(3)], { backlog: false, wanted: true }],
    ['votes that waited', [vote(HOUR), vote(HOUR)], { backlog: true, wanted: false }],
    ['old votes that were just resent', [vote(HOUR, 5)], { backlog: false, wanted: false }],
    [
      'an old one that is tried again before fresh ones',
      [vote(HOUR), vote(5)],
      { backlog: false, wanted: true },
    ],
    ['a long line behind a resent one', [vote(5, HOUR), vote(HOUR)], { backlog: true, wanted: true }],
  ])('%s', (_, votes, { backlog, wanted }) => {
    const yielding = new Yielding();
    expect(yielding.note(votes, NOW)).toBe(backlog);
    expect(yielding.isWanted).toBe(wanted);
    expect(yielding.most(64)).toBe(wanted ? 16 : 64);
    expect(yielding.most(5)).toBe(5);
  });
});

describe('A turn of a backlog', () => {
  it('is one at a time, and comes again after a rest, however the claim ended', async () => {
    const yielding = new Yielding();
    expect(yielding.take()).toBe(0);
    expect(yielding.take()).toBeGreaterThan(0);
    const claim = Promise.withResolvers<void>();
    const timed = yielding.timed(claim.promise);
    expect(yielding.take()).toBeGreaterThan(0);
    // A claim that took a moment.
    const began = performance.now();
    await vi.waitUntil(() => performance.now() - began > 10, PATIENT);
    claim.reject(new Error('MongoDB is away'));
    await expect(timed).rejects.toThrow('MongoDB is away');
    const restMs = yielding.take();
    expect(restMs).toBeGreaterThan(10);
    expect(restMs).toBeLessThanOrEqual(SECOND);
    await vi.waitUntil(() => yielding.take() === 0, PATIENT);
  });

  it('is not held up for long by a claim that hangs', async () => {
    const yielding = new Yielding();
    expect(yielding.take()).toBe(0);
    void yielding.timed(new Promise(() => undefined));
    expect(yielding.take()).toBeGreaterThan(0);
    await vi.waitUntil(() => yielding.take() === 0, PATIENT);
  });
});

describe('A backlog', () => {
  const COUNT = 150;

  /** Votes that have waited for an hour. */
  async function withBacklog(): Promise<DeliveryBench> {
    const bench = await deliveryBench();
    const names = Array.from({ length: COUNT }, (_, n) => `player ${n}`);
    for (const name of names) await bench.cast(name);
    bench.clock.move(HOUR);
    return bench;
  }

  /** Drains it; gives the number of votes of each claim, and the names in the order of their attempts. */
  async function drained({ platform, serverId, drain, listener }: DeliveryBench, yielding: Yielding) {
    expect(await drain({}, { yielding })).toEqual({ kind: 'idle' });
    const votes = await platform.votes
      .find({ serverId })
      .sort({ 'delivery.attempts.id': 1, _id: 1 })
      .toArray();
    const claims = Map.groupBy(votes, ({ delivery }) => String(delivery.attempts[0]?.id));
    expect(votes.map(({ delivery }) => delivery.state)).toEqual(votes.map(() => 'delivered'));
    expect(listener.votes).toHaveLength(COUNT);
    expect(votes.map(({ username }) => username)).toEqual(votes.map((_, n) => `player ${n}`));
    return [...claims.values()].map(({ length }) => length);
  }

  it('never rests while no fresh vote comes', async () => {
    const yielding = new Yielding();
    const take = vi.spyOn(yielding, 'take');
    await drained(await withBacklog(), yielding);
    expect(take).not.toHaveBeenCalled();
  });

  it('is claimed in small parts while fresh ones come, in order, each once', async () => {
    const yielding = new Yielding();
    const bench = await withBacklog();
    const take = vi.spyOn(yielding, 'take');
    vi.spyOn(yielding, 'isWanted', 'get').mockReturnValue(true);
    const claims = await drained(bench, yielding);
    expect(Math.max(...claims)).toBeGreaterThan(1);
    expect(Math.max(...claims)).toBeLessThanOrEqual(16);
    expect(take.mock.results.some(({ value }) => value > 0)).toBe(true);
  });

  it('records good and bad ends in the order in which they came', async () => {
    const { platform, serverId } = await withBacklog();
    const yielding = new Yielding();
    vi.spyOn(yielding, 'isWanted', 'get').mockReturnValue(true);
    const came: string[] = [];
    const noted: string[] = [];
    const never = new AbortController().signal;
    const deps: Draining = {
      ...platform,
      yielding,
      open: (listener) => openListener(platform.secrets, listener),
      // After the first ones every second vote is refused: five in a row would pause the listener.
      async send(_, { _id }) {
        came.push(_id.toString());
        const refused = came.length > 20 && came.length % 2 === 0;
        return refused ? outcome('vote-refused', 'written') : outcome('acknowledged', 'acknowledged');
      },
      onEnd: ({ vote: { _id } }) => noted.push(_id.toString()),
    };
    const limits = { stop: never, waitNoLonger: never, budgetMs: 20_000 };
    expect(await drainListener(deps, serverId, limits)).toEqual({ kind: 'idle' });
    expect(came).toHaveLength(COUNT);
    expect(noted).toEqual(came);
    expect(await platform.listeners.findOne({ serverId })).toMatchObject({ pause: null });
  });
});
