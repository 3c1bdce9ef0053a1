import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../src/clock.ts';
import { REACHABLE } from '../../src/delivery/listener.ts';
import { turnOf, UnprovenPlaces } from '../../src/delivery/turn.ts';

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
    const places = new UnprovenPlaces(2, 5 * SECOND);
    expect([places.take(), places.take(), places.take()]).toEqual([true, true, false]);
    places.free();
    expect(places.take()).toBe(true);
  });

  it('call those that found none back one after the other, as places become free', () => {
    const places = new UnprovenPlaces(10, 5 * SECOND);
    const waits = Array.from({ length: 100 }, () => places.stayAwayMs(0));
    expect(waits[0]).toBe(2_000);
    expect(waits[1]).toBe(2_500);
    expect(waits[99]).toBeCloseTo(51_500);
    // A minute later nobody waits any more.
    expect(places.stayAwayMs(MINUTE)).toBe(2_000);
  });

  it('keep nobody away for more than a minute', () => {
    const places = new UnprovenPlaces(1, 5 * SECOND);
    const waits = Array.from({ length: 1_000 }, () => places.stayAwayMs(0));
    expect(Math.max(...waits)).toBe(MINUTE);
  });
});
