import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../src/clock.ts';
import { REACHABLE } from '../../src/delivery/listener.ts';
import { relayDueWork } from '../../src/delivery/relay.ts';
import { FAILING_TURN, turnOf, UnprovenPlaces } from '../../src/delivery/turn.ts';
import { deliveryBench } from '../support/delivering.ts';

describe('The turn of a listener', () => {
  it('comes first for those that took votes, then for unknown ones, then for those that fail', () => {
    const lastDeliveredAt = new Date();
    const known = turnOf({ breaker: REACHABLE, lastDeliveredAt });
    const unknown = turnOf({ breaker: REACHABLE, lastDeliveredAt: null });
    const failing = turnOf({ breaker: { failures: 1, tests: 0 }, lastDeliveredAt });
    expect(known).toBe(0);
    expect(unknown).toBeGreaterThan(known);
    expect(failing).toBeGreaterThan(unknown);
  });
});

describe('Places for listeners that are not known to answer', () => {
  it('are no more than stated, and are given again once free', () => {
    const places = new UnprovenPlaces(2);
    expect([places.take(1), places.take(1), places.take(1)]).toEqual([true, true, false]);
    places.free(SECOND);
    expect(places.take(1)).toBe(true);
  });

  it('keep some for listeners of which nothing is known, however many fail', () => {
    const places = new UnprovenPlaces(4);
    const failing = Array.from({ length: 10 }, () => places.take(FAILING_TURN));
    expect(failing.filter(Boolean)).toHaveLength(3);
    expect([places.take(1), places.take(1)]).toEqual([true, false]);
    // A worker with one place has none to keep.
    expect(new UnprovenPlaces(1).take(FAILING_TURN)).toBe(true);
  });

  it('call those that found none back one after the other, as places become free', () => {
    const places = new UnprovenPlaces(10);
    // As long as nobody has held a place yet, each is taken to hold it for a second.
    const waits = Array.from({ length: 100 }, () => places.stayAwayMs(0));
    expect(waits[0]).toBe(200);
    expect(waits[1]).toBe(300);
    expect(waits[99]).toBeCloseTo(10_100);
    // A minute later nobody waits any more.
    expect(places.stayAwayMs(MINUTE)).toBe(200);
  });

  it('learn how long they are held', () => {
    const places = new UnprovenPlaces(10);
    for (let n = 0; n < 100; n += 1) {
      places.take(1);
      places.free(5 * SECOND);
    }
    const [first = 0, second = 0] = [places.stayAwayMs(0), places.stayAwayMs(0)];
    expect(second - first).toBeCloseTo(500, 0);
  });

  it('keep nobody away for more than a minute', () => {
    const places = new UnprovenPlaces(1);
    const waits = Array.from({ length: 1_000 }, () => places.stayAwayMs(0));
    expect(Math.max(...waits)).toBe(MINUTE);
  });
});

describe('A listener that finds no place', () => {
  it('is left alone until its turn comes, and then delivers', async () => {
    const bench = await deliveryBench();
    const { platform, clock, drain, serverId } = bench;
    await bench.cast('Steve');
    const places = new UnprovenPlaces(1);
    places.take(1);
    expect(await drain({}, places)).toEqual({ kind: 'put-off', until: expect.any(Date) });
    expect(bench.listener.connections).toBe(0);
    expect(await relayDueWork(platform)).toMatchObject({ woken: 0 });

    places.free(SECOND);
    clock.move(3 * SECOND);
    expect(await relayDueWork(platform)).toMatchObject({ woken: 1 });
    expect(await drain({}, places)).toEqual({ kind: 'idle' });
    expect(bench.listener.votes).toHaveLength(1);
    expect((await platform.listeners.findOne({ serverId }))?.breaker).toEqual(REACHABLE);
    // Its place is free again, and it needs none from now on.
    expect(places.take(1)).toBe(true);
    await bench.cast('Alex');
    expect(await drain({}, places)).toEqual({ kind: 'idle' });
    expect(bench.listener.votes).toHaveLength(2);
  });

  it('is tested later where it is unreachable, and says so', async () => {
    const bench = await deliveryBench();
    await bench.listener.stop();
    for (const name of ['Steve', 'Alex', 'Kai']) await bench.cast(name);
    const places = new UnprovenPlaces(1);
    await bench.drain({}, places);
    bench.clock.move(MINUTE);
    places.take(1);
    const end = await bench.drain({}, places);
    expect(end).toMatchObject({ kind: 'unreachable', waiting: 3, code: 'connection-refused' });
    if (end.kind !== 'unreachable') return;
    expect(end.nextTestAt.getTime() - bench.clock.now().getTime()).toBeGreaterThan(0);
    expect(await relayDueWork(bench.platform)).toMatchObject({ woken: 0 });
  });
});
