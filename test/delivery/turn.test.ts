import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

describe('Work on MongoDB for listeners that are not known to answer', () => {
  /** Begins works that last until they are let go, and tells which have begun. */
  function works(places: UnprovenPlaces) {
    const begun: string[] = [];
    const letGo = new Map<string, () => void>();
    return {
      begun,
      begin(name: string, turn?: number) {
        const work = () => {
          begun.push(name);
          return new Promise<void>((resolve) => letGo.set(name, resolve));
        };
        return places.aside(work, turn);
      },
      end: (name: string) => letGo.get(name)?.(),
    };
  }

  it('is done for few at once', async () => {
    const places = new UnprovenPlaces(100);
    const { begin, begun, end } = works(places);
    const all = Array.from({ length: 10 }, (_, n) => begin(`${n}`, 1));
    expect(begun).toHaveLength(8);
    end('0');
    await all[0];
    await expect.poll(() => begun).toHaveLength(9);
  });

  it('waits for work that hangs no longer than three seconds, even where it is done one by one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const places = new UnprovenPlaces(100);
    places.makeWay();
    const { begin, begun, end } = works(places);
    const hanging = begin('on a lost connection', 1);
    void begin('another', 1);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(begun).toEqual(['on a lost connection']);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['on a lost connection', 'another']);
    end('on a lost connection');
    await hanging;
  });

  it('is done one by one while a listener that answers is served, and fully a while after', async () => {
    const places = new UnprovenPlaces(100);
    const served = places.makeWay();
    const alsoServed = places.makeWay();
    const { begin, begun, end } = works(places);
    for (let n = 0; n < 10; n += 1) void begin(`${n}`, 1);
    expect(begun).toEqual(['0']);
    served();
    end('0');
    await expect.poll(() => begun).toEqual(['0', '1']);
    alsoServed();
    await expect.poll(() => begun.length, { timeout: 5_000 }).toBe(9);
  });

  it('goes on for those that hold a place, before others begin, and begins with those of which nothing is known', async () => {
    const places = new UnprovenPlaces(100);
    places.makeWay();
    const { begin, begun, end } = works(places);
    const order = ['first', 'unknown goes on', 'unknown begins', 'failing begins'];
    const first = begin('first', 1);
    void begin('failing begins', FAILING_TURN);
    void begin('unknown begins', 1);
    void begin('unknown goes on');
    for (const [n, name] of order.entries()) {
      await expect.poll(() => begun).toEqual(order.slice(0, n + 1));
      end(name);
    }
    await first;
  });
});

describe('A listener that finds no place', () => {
  it('is left alone until its turn comes, and then delivers', async () => {
    const bench = await deliveryBench();
    const { platform, clock, drain, serverId } = bench;
    await bench.cast('Steve');
    const places = new UnprovenPlaces(1);
    places.take(1);
    // Others found no place before: its own turn is so far off that none of what follows takes as long.
    while (places.stayAwayMs(clock.now().getTime()) < 20 * SECOND);
    expect(await drain({}, { unproven: places })).toEqual({ kind: 'put-off', until: expect.any(Date) });
    expect(bench.listener.connections).toBe(0);
    expect(await relayDueWork(platform)).toMatchObject({ woken: 0 });

    places.free(SECOND);
    clock.move(2 * MINUTE);
    expect(await relayDueWork(platform)).toMatchObject({ woken: 1 });
    expect(await drain({}, { unproven: places })).toEqual({ kind: 'idle' });
    expect(bench.listener.votes).toHaveLength(1);
    expect((await platform.listeners.findOne({ serverId }))?.breaker).toEqual(REACHABLE);
    // Its place is free again, and it needs none from now on.
    expect(places.take(1)).toBe(true);
    await bench.cast('Alex');
    expect(await drain({}, { unproven: places })).toEqual({ kind: 'idle' });
    expect(bench.listener.votes).toHaveLength(2);
  });

  it('is tested later where it is unreachable, and says so', async () => {
    const bench = await deliveryBench();
    await bench.listener.stop();
    for (const name of ['Steve', 'Alex', 'Kai']) await bench.cast(name);
    const places = new UnprovenPlaces(1);
    await bench.drain({}, { unproven: places });
    bench.clock.move(MINUTE);
    places.take(1);
    const end = await bench.drain({}, { unproven: places });
    expect(end).toMatchObject({ kind: 'unreachable', waiting: 3, code: 'connection-refused' });
    if (end.kind !== 'unreachable') return;
    expect(end.nextTestAt.getTime() - bench.clock.now().getTime()).toBeGreaterThan(0);
    expect(await relayDueWork(bench.platform)).toMatchObject({ woken: 0 });
  });
});
